import { accounts, memberships } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import type { CredentialKind, IssuedCredential } from '../credentials/judge-credential.ts';
import type { Rows } from '../generated/rows.ts';
import { isWithoutWorkspace } from '../accounts/without-workspace-table.ts';
import { memberPermissionsOf } from '../identity-table.ts';
import { artifactHash } from './artifact-table.ts';
import { diagnosticsScope, isWriteScope, type Resource } from './resources.ts';

type Grant = Rows['connector_grant'];
type Stored = Rows['resource'];
interface GrantRow extends Pick<
  Grant,
  'user_id' | 'client_id' | 'resource' | 'scopes' | 'purposes' | 'expires_at' | 'last_used_at'
> {
  readonly grant_id: Grant['id'];
  readonly account_id: Stored['id'];
  readonly workspace_id: Stored['workspace_id'];
  readonly account_state: Stored['lifecycle_state'];
  readonly account: Stored['attributes'];
  readonly without_workspace: boolean;
  readonly member_permissions: Stored['attributes'] | null;
}

/** Grants that nobody ended, of active clients and users, with what their accounts say today. */
const grantColumns = `g.id as grant_id, g.user_id, g.client_id, g.resource, g.scopes, g.purposes, g.expires_at, g.last_used_at, a.id as account_id,
  a.workspace_id, a.lifecycle_state as account_state, a.attributes as account, ${isWithoutWorkspace} as without_workspace,
  ${memberPermissionsOf('g.user_id', 'g.created_at')} as member_permissions`;
const grantJoins = `join resource a on a.id = g.account_id
  join resource u on u.id = g.user_id and u.lifecycle_state = 'active'
  join unique_key k on k.resource_type = 'oauth_clients' and k.attribute = 'client_id' and k.value = g.client_id
  join resource c on c.id = k.resource_id and c.lifecycle_state = 'active'`;

const accountFields = accounts.attributes
  .pick({ plan: true, subscription: true, email: true, owner_user_id: true })
  .strip();
const permissionsField = memberships.attributes.shape.permissions;

/** Kinds of access tokens by the API that accepts them. */
const kinds: Readonly<Record<string, CredentialKind>> = {
  rest: 'oauth_access_token',
  mcp: 'mcp_access_token',
  management: 'management_access_token',
};

/** What a grant gives, as a credential; undefined for a resource that this installation has no more. */
function credentialOf(
  row: GrantRow,
  resources: readonly Resource[],
  { scopes, expiresAt }: { readonly scopes: readonly string[]; readonly expiresAt: Date },
): IssuedCredential | undefined {
  const api = resources.find(({ identifier }) => identifier === row.resource)?.api;
  const kind = api && kinds[api];
  if (!kind) return undefined;
  return {
    id: row.grant_id,
    grantId: row.grant_id,
    kind,
    state: 'active',
    scope: scopes.some(isWriteScope) ? 'read_write' : 'read',
    scopes,
    purposes: scopes.includes(diagnosticsScope) ? (row.purposes ?? []) : [],
    expires_at: expiresAt.toISOString(),
    oauthClientId: row.client_id,
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
    userId: row.user_id,
    ...(row.member_permissions !== null && { memberPermissions: permissionsField.parse(row.member_permissions) }),
    account: {
      id: row.account_id,
      workspaceId: row.workspace_id,
      state: row.account_state,
      hasWorkspace: !row.without_workspace,
      ...accountFields.parse(row.account),
    },
  };
}

const tokenFields = z.object({ aud: z.string(), scope: z.string().default(''), exp: z.number() });

/** Whether a text can be an access token: those of the library have 256 random bits and no prefix. */
export const isAccessTokenText = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** The credential that an access token is; undefined for any other text, and for one whose grant, client or user has ended. */
export async function findAccessToken(
  pool: Pool,
  resources: readonly Resource[],
  token: string,
): Promise<IssuedCredential | undefined> {
  const { rows } = await pool.query<GrantRow & { readonly payload: string }>({
    name: 'find_access_token',
    text: `select t.payload, ${grantColumns} from oauth_artifact t join connector_grant g on g.id = t.grant_id ${grantJoins}
           where t.model = 'AccessToken' and t.id_hash = $1 and g.revoked_at is null`,
    values: [artifactHash(token)],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { aud, scope, exp } = tokenFields.parse(JSON.parse(row.payload));
  if (aud !== row.resource) return undefined;
  const expiresAt = new Date(Math.min(exp * 1000, row.expires_at.getTime()));
  return credentialOf(row, resources, { scopes: scope.split(' '), expiresAt });
}

/** What a grant gives today, as a credential; undefined when it, its client or its user has ended. */
export async function findGrantedAccess(
  pool: Pool,
  resources: readonly Resource[],
  grantId: string,
): Promise<IssuedCredential | undefined> {
  const { rows } = await pool.query<GrantRow>({
    name: 'find_granted_access',
    text: `select ${grantColumns} from connector_grant g ${grantJoins} where g.id = $1 and g.revoked_at is null`,
    values: [grantId],
  });
  const [row] = rows;
  return row && credentialOf(row, resources, { scopes: row.scopes ?? [], expiresAt: row.expires_at });
}

/** Records a use of a grant, at most once a minute. */
export async function touchGrant(pool: Pool, grantId: string, now: Date): Promise<void> {
  await pool.query({
    name: 'touch_grant',
    text: `update connector_grant set last_used_at = $2
           where id = $1 and (last_used_at is null or last_used_at <= $2::timestamptz - interval '1 minute')`,
    values: [grantId, now],
  });
}
