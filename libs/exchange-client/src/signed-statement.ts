import { hash } from 'node:crypto';
import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';

/** SHA-256 (hex) of a statement as it was signed. */
export const statementHash = (jws: string): string => hash('sha256', jws, 'hex');

/**
 * Reads a statement that the exchange signed as compact JWS with Ed25519. Throws the sentence that says what is wrong with it.
 * @param keys the published keys of the exchange
 * @param type `typ` of the header: "receipt+jwt"
 */
export async function readStatement(jws: string, keys: readonly JWK[], type: string): Promise<unknown> {
  const header = (() => {
    try {
      return decodeProtectedHeader(jws);
    } catch (cause) {
      throw new Error('it is no compact JWS', { cause });
    }
  })();
  // Unused bits of the last character would give one statement several texts, and so several hashes.
  if (jws.split('.').some((part) => Buffer.from(part, 'base64url').toString('base64url') !== part))
    throw new Error('it is no compact JWS');
  const named = keys.filter(({ kid = '1' }) => kid === (header.kid ?? '1'));
  if (named.length === 0) throw new Error(`it is signed by an unknown key, “${header.kid ?? ''}”`);
  for (const { kty, crv, x } of named) {
    const verified = await compactVerify(jws, await importJWK({ kty, crv, x }, 'EdDSA'), {
      algorithms: ['EdDSA'],
    }).catch(() => undefined);
    if (!verified) continue;
    if (verified.protectedHeader.typ !== type) throw new Error(`it is not of type ${type}`);
    return JSON.parse(Buffer.from(verified.payload).toString()) as unknown;
  }
  throw new Error('its signature is not valid');
}
