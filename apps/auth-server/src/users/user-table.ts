import { accounts, users } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';

const userRow = z.object({ id: z.string(), workspace_id: z.string(), attributes: users.attributes });

/** A person who may sign in. */
export interface User {
  readonly id: string;
  readonly workspaceId: string;
  readonly attributes: z.output<typeof users.attributes>;
}

/** The person with an address. */
export async function findUserByEmail(pool: Pool, email: string): Promise<User | undefined> {
  const { rows } = await pool.query({
    name: 'find_user_by_email',
    text: `select u.id, u.workspace_id, u.attributes from unique_key k join resource u on u.id = k.resource_id
           where k.resource_type = 'users' and k.attribute = 'email' and k.value = $1 and u.lifecycle_state = 'active'`,
    values: [email],
  });
  const row = z.array(userRow).parse(rows)[0];
  return row && { id: row.id, workspaceId: row.workspace_id, attributes: row.attributes };
}

/** A person with a verified address who never owned an account; undefined for everybody else. */
export async function findFirstOwner(pool: Pool, userId: string): Promise<User | undefined> {
  const { rows } = await pool.query(
    `select id, workspace_id, attributes from resource u
     where id = $1 and resource_type = 'users' and lifecycle_state = 'active' and attributes->>'email_verified' = 'true'
       and not exists (select from resource where resource_type = 'accounts' and attributes->>'owner_user_id' = u.id)`,
    [userId],
  );
  const row = z.array(userRow).parse(rows)[0];
  return row && { id: row.id, workspaceId: row.workspace_id, attributes: row.attributes };
}

const accountRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  plan: z.string(),
  is_owner: z.boolean(),
});

/** An account in which a person may work. */
export interface ReachableAccount {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly plan: string;
  /** Otherwise the person is a member. */
  readonly isOwner: boolean;
}

/** The accounts that a person owns, then those whose members include one of them; the oldest first. */
export async function listAccountsOf(pool: Pool, userId: string): Promise<readonly ReachableAccount[]> {
  const { rows } = await pool.query({
    name: 'list_accounts_of_user',
    text: `with own as (
             select id, workspace_id, attributes, true as is_owner from resource
             where resource_type = 'accounts' and lifecycle_state = 'active' and attributes->>'owner_user_id' = $1
           ), reachable as (
             select * from own
             union
             select o.id, o.workspace_id, o.attributes, false from own
             join resource m on m.resource_type = 'memberships' and m.lifecycle_state = 'active'
               and m.attributes->>'member_account_id' = own.id
             join resource o on o.id = m.attributes->>'owner_account_id' and o.lifecycle_state = 'active'
             where o.attributes->>'owner_user_id' is distinct from $1
           )
           select id, workspace_id, attributes->>'name' as name, attributes->>'plan' as plan, is_owner
           from reachable order by is_owner desc, id collate "C" limit 200`,
    values: [userId],
  });
  return z
    .array(accountRow)
    .parse(rows)
    .map(({ workspace_id: workspaceId, is_owner: isOwner, ...row }) => ({ ...row, workspaceId, isOwner }));
}

/** Active accounts of a person that have the person's address. */
export async function listAccountsWithEmail(pool: Pool, userId: string, email: string) {
  const { rows } = await pool.query(
    `select id, workspace_id from resource
     where resource_type = 'accounts' and lifecycle_state = 'active' and attributes->>'owner_user_id' = $1
       and attributes->>'email' = $2`,
    [userId, email],
  );
  return z
    .array(z.object({ id: z.string(), workspace_id: z.string() }))
    .parse(rows)
    .map(({ id, workspace_id: workspaceId }) => ({ id, workspaceId }));
}

const ownerlessRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  attributes: accounts.attributes.pick({ name: true }).extend({ email: z.string() }).strip(),
});

/** Active accounts with an address and no owner, after the given id. */
export async function listOwnerless(pool: Pool, after: string) {
  const { rows } = await pool.query(
    `select id, workspace_id, attributes from resource
     where resource_type = 'accounts' and lifecycle_state = 'active' and attributes ? 'email'
       and not attributes ? 'owner_user_id' and id collate "C" > $1
     order by id collate "C" limit 100`,
    [after],
  );
  return z.array(ownerlessRow).parse(rows);
}
