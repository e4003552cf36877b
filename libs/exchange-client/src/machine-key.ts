import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, CompactSign, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

/** Makes a key for messages: Ed25519, private. */
export async function newMachineKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const { kty, crv, x, d } = await exportJWK(privateKey);
  return { kty, crv, x, d };
}

/** The public half, as `machine_key.register` takes it. */
export const publicHalf = ({ kty, crv, x }: JWK): JWK => ({ kty, crv, x });

/**
 * The proof that the private key is at hand, for `machine_key.register`: a compact JWS by the key itself about its registration. It is good
 * for five minutes.
 */
export async function proveMachineKey(
  privateJwk: JWK,
  { workspaceId, authorityId, now = new Date() }: { workspaceId: string; authorityId: string; now?: Date },
): Promise<string> {
  const statement = {
    workspace_id: workspaceId,
    authority_id: authorityId,
    jkt: await calculateJwkThumbprint(publicHalf(privateJwk), 'sha256'),
    nonce: randomBytes(16).toString('base64url'),
    iat: Math.floor(now.getTime() / 1000),
  };
  return new CompactSign(Buffer.from(JSON.stringify(statement)))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'key-proof+jwt' })
    .sign(await importJWK({ ...privateJwk, alg: 'EdDSA' }, 'EdDSA'));
}
