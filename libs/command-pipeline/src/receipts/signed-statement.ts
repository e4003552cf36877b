import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';

const base64url = /^[A-Za-z0-9_-]*$/;
/** Whether a text is the one base64url form of its bytes: without it, some characters could change and the bytes stay. */
const isCanonical = (part: string) =>
  base64url.test(part) && Buffer.from(part, 'base64url').toString('base64url') === part;

/** The name of the key in the header. */
function kidOf(jws: string): string {
  try {
    return decodeProtectedHeader(jws).kid ?? '1';
  } catch (cause) {
    throw new Error('its signature is not valid', { cause });
  }
}

/** Reads a signed statement. Throws with the sentence that says what is wrong with it. */
export type ReadStatement = (jws: string) => Promise<Readonly<Record<string, unknown>>>;

/**
 * Reads statements that one of these keys signed as compact JWS (RFC 7515) with Ed25519 (RFC 8037).
 * @param type `typ` of the header: "receipt+jwt"
 */
export async function createStatementReader(keys: readonly JWK[], type: string): Promise<ReadStatement> {
  const imported = await Promise.all(
    keys.map(async ({ kty, crv, x, kid = '1' }) => ({ kid, key: await importJWK({ kty, crv, x }, 'EdDSA') })),
  );
  /** Keys of two services may have one name. */
  const known = Map.groupBy(imported, ({ kid }) => kid);
  return async (jws) => {
    const parts = jws.split('.');
    if (parts.length !== 3 || !parts.every(isCanonical)) throw new Error('it is no compact JWS');
    const kid = kidOf(jws);
    const candidates = known.get(kid);
    if (!candidates) throw new Error(`it is signed by an unknown key, “${kid}”`);
    const verified = await Promise.any(
      candidates.map(({ key }) => compactVerify(jws, key, { algorithms: ['EdDSA', 'Ed25519'] })),
    ).catch((cause: unknown) => {
      throw new Error('its signature is not valid', { cause });
    });
    if (verified.protectedHeader.typ !== type) throw new Error(`it is not of type ${type}`);
    return JSON.parse(Buffer.from(verified.payload).toString()) as Readonly<Record<string, unknown>>;
  };
}
