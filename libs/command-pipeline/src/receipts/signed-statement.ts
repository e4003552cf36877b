import { compactVerify, importJWK, type JWK } from 'jose';

const base64url = /^[A-Za-z0-9_-]*$/;
/** Whether a text is the one base64url form of its bytes: without it, some characters could change and the bytes stay. */
const isCanonical = (part: string) =>
  base64url.test(part) && Buffer.from(part, 'base64url').toString('base64url') === part;

/** Reads a signed statement. Throws with the sentence that says what is wrong with it. */
export type ReadStatement = (jws: string) => Promise<Readonly<Record<string, unknown>>>;

/**
 * Reads statements that one of these keys signed as compact JWS (RFC 7515) with Ed25519 (RFC 8037).
 * @param type `typ` of the header: "receipt+jwt"
 */
export async function createStatementReader(keys: readonly JWK[], type: string): Promise<ReadStatement> {
  const known = new Map(
    await Promise.all(
      keys.map(async (key) => {
        const { kty, crv, x } = key;
        return [key.kid ?? '1', await importJWK({ kty, crv, x }, 'EdDSA')] as const;
      }),
    ),
  );
  return async (jws) => {
    const parts = jws.split('.');
    if (parts.length !== 3 || !parts.every(isCanonical)) throw new Error('it is no compact JWS');
    const verified = await compactVerify(
      jws,
      ({ kid = '1' }) => {
        const key = known.get(kid);
        if (!key) throw new Error(`it is signed by an unknown key, “${kid}”`);
        return key;
      },
      { algorithms: ['EdDSA', 'Ed25519'] },
    ).catch((error: unknown) => {
      const isOurs = error instanceof Error && error.message.startsWith('it is');
      throw isOurs ? error : new Error('its signature is not valid', { cause: error });
    });
    if (verified.protectedHeader.typ !== type) throw new Error(`it is not of type ${type}`);
    return JSON.parse(Buffer.from(verified.payload).toString()) as Readonly<Record<string, unknown>>;
  };
}
