import { importJWK, jwtVerify, SignJWT, type JWK } from 'jose';
import { z } from 'zod';

/** Roles inside a workspace (design: commands.md §1). `owner` and `editor` are the hosting roles. */
export const roles = [
  'viewer',
  'trafficker',
  'sales',
  'reviewer',
  'finance',
  'publisher',
  'admin',
  'owner',
  'editor',
  'analyst',
] as const;
export type Role = (typeof roles)[number];

const principalSchema = z.strictObject({
  account_id: z.string(),
  workspace_id: z.string(),
  roles: z.array(z.enum(roles)),
  credential_id: z.string(),
  credential_kind: z.enum(['api_key', 'legacy_token', 'oauth_access_token']),
  read_only: z.boolean(),
});

/** Whoever acts: a person through a credential. */
export type Principal = z.infer<typeof principalSchema>;

const issuer = 'longwave/auth-server';
const audience = 'longwave/services';

/**
 * A signed statement about a principal (compact JWS, EdDSA), passed between services as metadata `longwave-principal`.
 * @param lifetimeSeconds how long other services accept it; a minute covers any deadline chain
 */
export async function signPrincipal(
  principal: Principal,
  privateKey: JWK,
  now: Date,
  lifetimeSeconds = 60,
): Promise<string> {
  const seconds = Math.floor(now.getTime() / 1000);
  return new SignJWT({ principal: principalSchema.parse(principal) })
    .setProtectedHeader({ alg: 'EdDSA', kid: privateKey.kid ?? '1', typ: 'principal+jwt' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + lifetimeSeconds)
    .sign(await importJWK(privateKey, 'EdDSA'));
}

/** The principal of a valid, unexpired statement; undefined for any other text. */
export async function tryVerifyPrincipal(
  statement: string,
  publicKeys: readonly JWK[],
  now: Date,
): Promise<Principal | undefined> {
  for (const key of publicKeys) {
    try {
      const { payload } = await jwtVerify(statement, await importJWK(key, 'EdDSA'), {
        algorithms: ['EdDSA'],
        issuer,
        audience,
        typ: 'principal+jwt',
        currentDate: now,
      });
      return principalSchema.parse(payload['principal']);
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Name of the gRPC metadata entry that carries the statement. */
export const principalMetadata = 'longwave-principal';
