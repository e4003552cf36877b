import { accounts, credentials, memberships } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';
import { isWithoutWorkspace } from './accounts/without-workspace-table.ts';
import type { Columns, Rows } from './generated/rows.ts';
import type { IssuedCredential } from './credentials/judge-credential.ts';

type Stored = Rows['resource'];
interface CredentialRow {
  readonly credential_id: Stored['id'];
  readonly credential_state: Stored['lifecycle_state'];
  readonly credential: Stored['attributes'];
  readonly first_key_id: Stored['id'] | null;
  readonly member_permissions: Stored['attributes'] | null;
  readonly user_state: Stored['lifecycle_state'] | null;
  readonly last_used_at: Date;
  readonly account_id: Stored['id'];
  readonly workspace_id: Stored['workspace_id'];
  readonly account_state: Stored['lifecycle_state'];
  readonly account: Stored['attributes'];
  readonly without_workspace: boolean;
}

const credentialFields = credentials.attributes
  .pick({ kind: true, scope: true, expires_at: true, user_id: true })
  .strip();
const accountFields = accounts.attributes
  .pick({ plan: true, subscription: true, email: true, owner_user_id: true })
  .strip();
const permissionsField = memberships.attributes.shape.permissions;

/**
 * SQL: the permissions by which a member of the organization of the account `a` uses what was made at a time; null for its owner, for
 * strangers, and for what is older than the membership: the end of a membership ends it for good.
 */
export const memberPermissionsOf = (userId: string, madeAt: string): string => `(
  select m.attributes->'permissions' from resource m
  join resource own on own.id = m.attributes->>'member_account_id' and own.lifecycle_state = 'active'
  where ${userId} <> coalesce(a.attributes->>'owner_user_id', '')
    and m.workspace_id = a.workspace_id and m.resource_type = 'memberships' and m.lifecycle_state = 'active'
    and m.attributes->>'owner_account_id' = a.id and own.attributes->>'owner_user_id' = ${userId}
    and (select min(r.created_at) from revision r where r.resource_id = m.id and r.lifecycle_state = 'active') <= ${madeAt}
  order by m.id limit 1)`;

/** SQL: whether a user may use what was made for the user in the account `a` at a time. */
export const hasAccessBy = (userId: string, madeAt: string): string =>
  `(${userId} = a.attributes->>'owner_user_id' or ${memberPermissionsOf(userId, madeAt)} is not null)`;

/**
 * SQL: whether the credential `c` is no session, or one whose use `s` names the password and the second factor that its person has now. A
 * new one so ends every session at once, also one that begins meanwhile.
 */
export const isProven = `(c.attributes->>'kind' <> 'browser_session' or
  s.password_set_at is not distinct from (select p.set_at from password p where p.user_id = c.attributes->>'user_id')
  and not exists (select from second_factor f
                  where f.user_id = c.attributes->>'user_id' and f.since is distinct from s.second_factor_since))`;

/** The credential with this digest (hex) and its account, or undefined; one index probe whatever the text was. */
export async function findCredential(pool: Pool, secretDigest: string): Promise<IssuedCredential | undefined> {
  const { rows } = await pool.query<CredentialRow>({
    name: 'find_credential',
    text: `select c.id as credential_id, c.lifecycle_state as credential_state, c.attributes as credential,
                  u.lifecycle_state as user_state, coalesce(s.last_used_at, c.created_at) as last_used_at,
                  a.id as account_id, a.workspace_id, a.lifecycle_state as account_state, a.attributes as account,
                  ${isWithoutWorkspace} as without_workspace,
                  (select min(f.id collate "C") from resource f
                   where f.workspace_id = c.workspace_id and f.resource_type = 'credentials'
                     and f.attributes->>'account_id' = a.id and f.attributes->>'kind' = 'api_key'
                     and f.attributes->>'user_id' is not distinct from c.attributes->>'user_id') as first_key_id,
                  ${memberPermissionsOf(`c.attributes->>'user_id'`, 'c.created_at')} as member_permissions
           from unique_key k
           join resource c on c.id = k.resource_id
           join resource a on a.id = c.attributes->>'account_id'
           left join resource u on u.id = c.attributes->>'user_id'
           left join session_use s on s.credential_id = c.id
           where k.resource_type = 'credentials' and k.attribute = 'secret_digest' and k.value = $1
             and ${isProven}`,
    values: [secretDigest],
  });
  const row = rows[0];
  if (!row) return undefined;
  const { user_id: userId, ...fields } = credentialFields.parse(row.credential);
  return {
    id: row.credential_id,
    state: row.credential_state,
    ...(row.first_key_id !== null && { firstKeyId: row.first_key_id }),
    ...(row.member_permissions !== null && { memberPermissions: permissionsField.parse(row.member_permissions) }),
    ...(userId !== undefined && { userId, userState: row.user_state ?? 'unknown' }),
    lastUsedAt: row.last_used_at,
    ...fields,
    account: {
      id: row.account_id,
      workspaceId: row.workspace_id,
      state: row.account_state,
      hasWorkspace: !row.without_workspace,
      ...accountFields.parse(row.account),
    },
  };
}

/** Accounts of a workspace; the workspace is locked for this transaction, so that two creates cannot both see none. */
export async function countAccounts(tx: Transaction, workspaceId: string): Promise<number> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [workspaceId]);
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from resource where workspace_id = $1 and resource_type = 'accounts'`,
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** Those of the given workspaces that belong to an account. */
export async function findWorkspaces(tx: Transaction, workspaceIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<Columns<'resource', 'workspace_id'>>(
    `select distinct workspace_id from resource where resource_type = 'accounts' and workspace_id = any($1)`,
    [workspaceIds],
  );
  return new Set(rows.map((row) => row.workspace_id));
}

/** Locks an account for this transaction: other transactions that take the lock wait. */
export async function lockAccount(tx: Transaction, accountId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [accountId]);
}

/** Whether an active account has this address; the address is locked, so that two creates cannot both see it free. */
export async function isEmailTaken(tx: Transaction, email: string): Promise<boolean> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [email]);
  const { rowCount } = await tx.query(
    `select from resource where resource_type = 'accounts' and lifecycle_state = 'active' and attributes->>'email' = $1`,
    [email],
  );
  return rowCount !== 0;
}
