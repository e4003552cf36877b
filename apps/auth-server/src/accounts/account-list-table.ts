import { memberships } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import type { Member } from '@longwave/rpc/credential';
import { z } from 'zod';

/** The account and the workspace that the list belongs to. */
type Owner = Pick<Principal, 'account_id' | 'workspace_id'>;

/** A part of a list. Ids hold the time at which they were made, so their order is that of the list. */
interface Part {
  /** The last id of the part before; empty for the first part. */
  readonly after: string;
  readonly limit: number;
}

const memberRow = z.object({
  id: z.string(),
  lifecycle_state: z.enum(['invited', 'active']),
  account_id: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  permissions: memberships.attributes.shape.permissions,
  created_at: z.date(),
  updated_at: z.date(),
});

/** Active accounts that are members of the owner's organization, and invitations that wait. */
export async function listMembers(pool: Pool, owner: Owner, { after, limit }: Part): Promise<Member[]> {
  const { rows } = await pool.query({
    name: 'list_members',
    text: `select m.id, m.lifecycle_state, a.id as account_id, a.attributes->>'name' as name,
                  coalesce(a.attributes->>'email', m.attributes->>'email') as email,
                  m.attributes->'permissions' as permissions, m.created_at, m.updated_at
           from resource m
           left join resource a on a.id = m.attributes->>'member_account_id' and a.lifecycle_state = 'active'
           where m.workspace_id = $1 and m.resource_type = 'memberships'
             and (m.lifecycle_state = 'invited' or m.lifecycle_state = 'active' and a.id is not null)
             and m.attributes->>'owner_account_id' = $2 and m.id collate "C" > $3
           order by m.id collate "C" limit $4`,
    values: [owner.workspace_id, owner.account_id, after, limit],
  });
  return z
    .array(memberRow)
    .parse(rows)
    .map((row) => ({
      id: row.id,
      state: row.lifecycle_state,
      accountId: row.account_id ?? '',
      name: row.name ?? '',
      email: row.email ?? '',
      permissions: row.permissions,
      createdAtMs: BigInt(row.created_at.getTime()),
      updatedAtMs: BigInt(row.updated_at.getTime()),
    }));
}

/** The memberships by which a person who does not own an account works there. */
export async function listMembershipIds(
  pool: Pool,
  { userId, accountId }: { readonly userId: string; readonly accountId: string },
): Promise<readonly string[]> {
  const { rows } = await pool.query(
    `select m.id from resource m join resource own on own.id = m.attributes->>'member_account_id'
     where m.resource_type = 'memberships' and m.lifecycle_state = 'active' and m.attributes->>'owner_account_id' = $2
       and own.attributes->>'owner_user_id' = $1 order by m.id limit 100`,
    [userId, accountId],
  );
  return z
    .array(z.object({ id: z.string() }))
    .parse(rows)
    .map(({ id }) => id);
}
