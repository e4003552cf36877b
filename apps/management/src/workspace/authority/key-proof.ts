import { calculateJwkThumbprint, compactVerify, importJWK, type JWK } from 'jose';
import { z } from 'zod';

/** The type of the proof in its header. */
export const keyProofType = 'key-proof+jwt';

/** How far the time of a proof may be from the time of its registration. */
const maxProofAgeMs = 300_000;

/** The statement that a key signs about its registration: this key, for this authority, in this workspace. */
const statement = z.strictObject({
  workspace_id: z.string(),
  authority_id: z.string(),
  /** The key's thumbprint (RFC 7638). */
  jkt: z.string(),
  /** Makes each statement another one. */
  nonce: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/),
  /** When it was signed, in seconds since 1970. */
  iat: z.int(),
});

/** SHA-256 of a public key in base64url (RFC 7638). */
export const thumbprintOf = (jwk: JWK): Promise<string> => calculateJwkThumbprint(jwk, 'sha256');

/**
 * Checks the self-signed proof of a key's registration; returns the fault in a sentence, or undefined when there is none.
 * @param now the time to which the proof must be close; undefined for a registration that has waited for its review
 */
export async function keyProofFault(
  proof: string,
  registered: { readonly jwk: JWK; readonly workspaceId: string; readonly authorityId: string },
  now: Date | undefined,
): Promise<string | undefined> {
  const { jwk, workspaceId, authorityId } = registered;
  let said: unknown;
  try {
    const key = await importJWK({ ...jwk, alg: 'EdDSA' }, 'EdDSA');
    const { payload, protectedHeader } = await compactVerify(proof, key, { algorithms: ['EdDSA'] });
    if (protectedHeader.typ !== keyProofType) return `The proof's type must be ${keyProofType}.`;
    said = JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return 'The proof is not a compact JWS (EdDSA) signed by this key.';
  }
  const parsed = statement.safeParse(said);
  if (!parsed.success) return 'The proof must state workspace_id, authority_id, jkt, nonce and iat, and nothing else.';
  const { workspace_id: workspace, authority_id: authority, jkt, iat } = parsed.data;
  if (workspace !== workspaceId || authority !== authorityId || jkt !== (await thumbprintOf(jwk)))
    return 'The proof is about another registration.';
  if (now && Math.abs(now.getTime() - iat * 1000) > maxProofAgeMs) return 'The proof is more than five minutes off.';
  return undefined;
}
