/**
 * The bytes of base64url without padding (RFC 4648 §5); undefined for any other spelling: padding, other characters, or unused bits that
 * are not zero, so that bytes have one text.
 */
export function tryDecodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
