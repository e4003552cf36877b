import type { Pool, Transaction } from '@longwave/postgres';
import { ownerRoles, type Role } from '@longwave/principal';
import type { Columns } from '../../generated/rows.ts';
import type { RoleHolder } from './role-holder.ts';

type Queryable = Pick<Pool, 'query'> | Transaction;

/** Stores a version of an account; an older version never overwrites a newer one. */
export async function saveAccount(
  pool: Pool,
  account: {
    readonly id: string;
    readonly workspaceId: string;
    readonly ownerUserId: string | undefined;
    readonly isActive: boolean;
    readonly version: number;
  },
): Promise<void> {
  await pool.query({
    name: 'save_known_account',
    text: `insert into known_account (account_id, workspace_id, owner_user_id, is_active, version) values ($1, $2, $3, $4, $5)
           on conflict (account_id) do update set owner_user_id = excluded.owner_user_id, is_active = excluded.is_active,
             version = excluded.version where known_account.version < excluded.version`,
    values: [account.id, account.workspaceId, account.ownerUserId ?? null, account.isActive, account.version],
  });
}

/** Stores a version of a membership; an older version never overwrites a newer one. */
export async function saveMember(
  pool: Pool,
  member: {
    readonly membershipId: string;
    /** The organization's workspace. */
    readonly workspaceId: string;
    /** The member's account; undefined while the invitation waits. */
    readonly accountId: string | undefined;
    readonly roles: readonly Role[];
    readonly isActive: boolean;
    readonly version: number;
  },
): Promise<void> {
  await pool.query({
    name: 'save_known_member',
    text: `insert into known_member (membership_id, workspace_id, account_id, roles, is_active, version) values ($1, $2, $3, $4, $5, $6)
           on conflict (membership_id) do update set account_id = excluded.account_id, roles = excluded.roles,
             is_active = excluded.is_active, version = excluded.version where known_member.version < excluded.version`,
    values: [
      ...[member.membershipId, member.workspaceId, member.accountId ?? null],
      ...[member.roles, member.isActive, member.version],
    ],
  });
}

/** Stores a version of a user; an older version never overwrites a newer one. */
export async function saveUser(
  pool: Pool,
  user: {
    readonly id: string;
    /** The address, once a mail to it was answered; undefined before, and when the user is closed. */
    readonly email: string | undefined;
    readonly version: number;
  },
): Promise<void> {
  await pool.query({
    name: 'save_known_user',
    text: `insert into known_user (user_id, email_digest, version) values ($1, encode(sha256(convert_to($2, 'UTF8')), 'hex'), $3)
           on conflict (user_id) do update set email_digest = excluded.email_digest, version = excluded.version
           where known_user.version < excluded.version`,
    values: [user.id, user.email ?? null, user.version],
  });
}

/** The users who have proved that an address is theirs. */
export async function listUsersWithEmail(db: Queryable, email: string): Promise<readonly string[]> {
  const { rows } = await db.query<Columns<'known_user', 'user_id'>>({
    name: 'list_users_with_email',
    text: `select user_id from known_user
           where email_digest = encode(sha256(convert_to($1, 'UTF8')), 'hex') order by user_id`,
    values: [email],
  });
  return rows.map((row) => row.user_id);
}

/** The owner of an account; everybody else, and an account without an owner, as named. Requests of the time before users name accounts. */
export async function personOf(db: Queryable, id: string): Promise<string> {
  const { rows } = await db.query<Columns<'known_account', 'owner_user_id'>>({
    name: 'find_account_owner',
    text: 'select owner_user_id from known_account where account_id = $1',
    values: [id],
  });
  return rows[0]?.owner_user_id ?? id;
}

/**
 * The people with roles in a workspace: the owner of its account, active members, and grantees of active authority grants. Undefined for a
 * workspace whose account has not been seen yet: then nothing is known about its people.
 */
export async function listRoleHolders(
  db: Queryable,
  workspaceId: string,
  now: Date,
): Promise<readonly RoleHolder[] | undefined> {
  const { rows } = await db.query<{ is_owner: boolean; person: string; podcast_id: string | null; roles: Role[] }>({
    name: 'list_role_holders',
    text: `select true as is_owner, coalesce(owner_user_id, account_id) as person, null as podcast_id,
                  case when is_active then $2::text[] else '{}' end as roles
           from known_account where workspace_id = $1
           union all
           select false, coalesce(a.owner_user_id, m.account_id), null, m.roles
           from known_member m left join known_account a on a.account_id = m.account_id
           where m.workspace_id = $1 and m.is_active and m.account_id is not null and coalesce(a.is_active, true)
           union all
           select false, g.attributes ->> 'grantee_user_id', p.id, array['viewer', g.attributes ->> 'role']
           from resource g left join lateral jsonb_array_elements_text(g.attributes #> '{scope_filter,podcast_ids}') as p (id) on true
           where g.workspace_id = $1 and g.resource_type = 'authority_grants' and g.lifecycle_state = 'active'
             and g.attributes ->> 'grantee_user_id' is not null
             and instant_of(g.attributes ->> 'expires_at') > $3`,
    values: [workspaceId, ownerRoles, now],
  });
  if (!rows.some((row) => row.is_owner)) return undefined;
  return rows.map(({ person, podcast_id: podcastId, roles }) => ({
    person,
    roles,
    ...(podcastId !== null && { podcastId }),
  }));
}
