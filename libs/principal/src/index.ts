import { importJWK, jwtVerify, SignJWT, type JWK } from 'jose';
import { z } from 'zod';

/**
 * Roles inside a workspace (design: commands.md §1). The hosting roles: `owner`, `editor` (content), `producer` (encoding),
 * `scheduler` (publishing), `analyst` (analytics), `manager` (collaborators).
 */
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
  'producer',
  'scheduler',
  'manager',
] as const;
export type Role = (typeof roles)[number];

/** Kinds of credentials that act for a person. */
export const credentialKinds = ['api_key', 'legacy_token', 'oauth_access_token', 'browser_session'] as const;

/** What someone may do in a workspace of another account: as a member of its organization, or on one podcast only. */
const grantSchema = z.strictObject({
  workspace_id: z.string(),
  /** Absent: everything in the workspace. */
  podcast_id: z.string().optional(),
  roles: z.array(z.enum(roles)),
});
export type Grant = z.infer<typeof grantSchema>;

const principalSchema = z.strictObject({
  account_id: z.string(),
  /** The account's own workspace. */
  workspace_id: z.string(),
  /** Roles in the own workspace. */
  roles: z.array(z.enum(roles)),
  /** Other workspaces. */
  grants: z.array(grantSchema),
  credential_id: z.string(),
  credential_kind: z.enum(credentialKinds),
  read_only: z.boolean(),
});

/** Whoever acts: a person through a credential. */
export type Principal = z.infer<typeof principalSchema>;

/**
 * Roles of a principal in a workspace, for something that belongs to a podcast or to none; undefined when it may see nothing
 * there. A grant for one podcast says nothing about the rest of its workspace.
 */
export function rolesIn(
  principal: Pick<Principal, 'workspace_id' | 'roles' | 'grants'>,
  workspaceId: string,
  podcastId: string | undefined,
): readonly Role[] | undefined {
  if (workspaceId === principal.workspace_id) return principal.roles;
  const fitting = principal.grants.filter(
    (grant) => grant.workspace_id === workspaceId && (grant.podcast_id === undefined || grant.podcast_id === podcastId),
  );
  return fitting.length === 0 ? undefined : [...new Set(fitting.flatMap((grant) => grant.roles))];
}

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
