import { importJWK, jwtVerify, SignJWT, type JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { roles } from './roles.ts';

export {
  audienceScopes,
  audienceTokenClaims,
  bearerOf,
  exchangeTokenClaims,
  producerPattern,
  signAccessToken,
  tryVerifyAccessToken,
  type AccessTokenClaims,
  type AudienceScope,
  type AudienceTokenClaims,
  type ExchangeTokenClaims,
} from './access-token.ts';
export { commandLineClient } from './command-line-client.ts';
export {
  decideAccess,
  type AccessDecision,
  type AccessNeed,
  type AccessTarget,
  type RoleHolder,
} from './decide-access.ts';
export { openKeyFile, openSigningKey, publicPartsOf } from './key-file.ts';
export { webhookKeyName } from './webhook-key-name.ts';
export { diagnosticsPurposes, type DiagnosticsPurpose } from './purposes.ts';
export {
  analyticsRoles,
  campaignRoles,
  commerceRoles,
  collaboratorRoles,
  grantedRoles,
  managerRoles,
  ownerRoles,
  roles,
  rolesOfMember,
  type Role,
} from './roles.ts';
export { apiScopes, type ApiScope, type ProtectedApi, type RestScope } from './scopes.ts';
export {
  admitCookie,
  cookieAttributes,
  cookieName,
  cookieOf,
  isCookieOrigin,
  sessionCookie,
} from './session-cookie.ts';

/** Kinds of credentials that act for a person. */
export const credentialKinds = [
  'api_key',
  'legacy_token',
  'oauth_access_token',
  'browser_session',
  'mcp_access_token',
  'mcp_personal_token',
  'management_access_token',
] as const;

/** Roles in a workspace of another account: as a member of its organization, or on one podcast only. */
const grantSchema = z.strictObject({
  workspace_id: z.string(),
  /** Absent: everything in the workspace. */
  podcast_id: z.string().optional(),
  roles: z.array(z.enum(roles)),
});
export type Grant = z.infer<typeof grantSchema>;

const principalSchema = z.strictObject({
  account_id: z.string(),
  /** The person: whom a session or token stands for, else the account's owner. Absent while the account has none. */
  user_id: z.string().optional(),
  /** The account's own workspace. */
  workspace_id: z.string(),
  /** Roles in the own workspace. */
  roles: z.array(z.enum(roles)),
  /** Other workspaces. */
  grants: z.array(grantSchema),
  credential_id: z.string(),
  /**
   * The authenticated client; a rotation of the credential keeps it (docs/glossary.md, client). Absent in statements of an older
   * auth-server: then the credential is the client.
   */
  client_id: z.string().optional(),
  credential_kind: z.enum(credentialKinds),
  read_only: z.boolean(),
});

/** A person who acts through a credential. */
export type Principal = z.infer<typeof principalSchema>;

const issuer = 'longwave/auth-server';
const audience = 'longwave/services';

type SigningKey = Awaited<ReturnType<typeof importJWK>>;
const imported = new WeakMap<JWK, Promise<SigningKey>>();

/** Imports each key once: an import costs more than a signature. */
function keyOf(jwk: JWK): Promise<SigningKey> {
  const known = imported.get(jwk) ?? importJWK(jwk, 'EdDSA');
  imported.set(jwk, known);
  return known;
}

/**
 * A signed statement about a principal (compact JWS, EdDSA), passed between services as metadata `longwave-principal`.
 * @param lifetimeSeconds time for which other services accept it; a minute covers any chain of deadlines
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
    .sign(await keyOf(privateKey));
}

/** Public keys of statements, or where to ask for those of now. */
export type PrincipalKeys = readonly JWK[] | (() => readonly JWK[]);

/** Signs like `signPrincipal` and reuses a principal's statement for `reuseSeconds`: a busy client costs one signature. */
export function createPrincipalSigner(privateKey: JWK | (() => JWK), reuseSeconds = 15) {
  const signed = new LRUCache<string, { readonly statement: Promise<string>; readonly until: number }>({
    max: maxRemembered,
  });
  return (principal: Principal, now: Date): Promise<string> => {
    const signingKey = typeof privateKey === 'function' ? privateKey() : privateKey;
    const key = JSON.stringify([signingKey.kid, principal]);
    const known = signed.get(key);
    if (known && known.until > now.getTime() && known.until - reuseSeconds * 1000 <= now.getTime())
      return known.statement;
    const statement = signPrincipal(principal, signingKey, now);
    signed.set(key, { statement, until: now.getTime() + reuseSeconds * 1000 });
    // A signature that failed is not kept.
    statement.catch(() => signed.delete(key));
    return statement;
  };
}

/** Statements that are remembered in one process. */
const maxRemembered = 2_000;

interface Verified {
  readonly principal: Principal;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}
const verified = new WeakMap<readonly JWK[], LRUCache<string, Verified>>();

/** Whether a correctly signed statement is valid now: issued at most a minute ahead of this clock, and not expired. */
const isTimely = ({ issuedAtMs, expiresAtMs }: Verified, now: Date) =>
  now.getTime() < expiresAtMs && now.getTime() >= issuedAtMs - 60_000;

/** The principal of a valid, unexpired statement; undefined for any other text. Checks each signature once. */
export async function tryVerifyPrincipal(
  statement: string,
  keys: PrincipalKeys,
  now: Date,
): Promise<Principal | undefined> {
  const publicKeys = typeof keys === 'function' ? keys() : keys;
  const remembered = verified.get(publicKeys) ?? new LRUCache<string, Verified>({ max: maxRemembered });
  verified.set(publicKeys, remembered);
  const known = remembered.get(statement);
  if (known) return isTimely(known, now) ? known.principal : undefined;
  for (const key of publicKeys) {
    try {
      const { payload } = await jwtVerify(statement, await keyOf(key), {
        algorithms: ['EdDSA'],
        issuer,
        audience,
        typ: 'principal+jwt',
        currentDate: now,
      });
      const found: Verified = {
        principal: principalSchema.parse(payload['principal']),
        issuedAtMs: (payload.iat ?? 0) * 1000,
        expiresAtMs: (payload.exp ?? 0) * 1000,
      };
      remembered.set(statement, found);
      return found.principal;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Name of the gRPC metadata entry that carries the statement. */
export const principalMetadata = 'longwave-principal';
