import { Secret, TOTP } from 'otpauth';

/** Steps before and after the present one whose codes count too: clocks differ, and typing takes time (RFC 6238, section 5.2). */
const window = 1;

/** A new secret of 160 bits (RFC 4226, section 4), in Base32. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** The address from which an app takes the secret, as a QR code shows it. */
export const totpAddress = (secret: string, email: string): string =>
  new TOTP({ issuer: 'Longwave', label: email, secret }).toString();

/** The time step that a code belongs to, spaces left aside; undefined for a code that is wrong now. */
export function stepOf(secret: string, typed: string, now: Date): number | undefined {
  const token = typed.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const timestamp = now.getTime();
  const delta = new TOTP({ secret }).validate({ token, timestamp, window });
  return delta === null ? undefined : TOTP.counter({ timestamp }) + delta;
}
