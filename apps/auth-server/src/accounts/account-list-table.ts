import { credentials, memberships } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import type { Key, Member } from '@longwave/rpc/credential';
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

const keyRow = z.object({
  id: z.string(),
  lifecycle_state: z.enum(['active', 'blocked']),
  ...credentials.attributes.pick({ name: true, kind: true, scope: true }).shape,
  expires_at: credentials.attributes.shape.expires_at.nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});

/** API keys and legacy tokens of the owner; the digests of their texts are not read. */
export async function listKeys(pool: Pool, owner: Owner, { after, limit }: Part): Promise<Key[]> {
  const { rows } = await pool.query({
    name: 'list_keys',
    text: `select id, lifecycle_state, attributes->>'name' as name, attributes->>'kind' as kind, attributes->>'scope' as scope,
                  attributes->>'expires_at' as expires_at, created_at, updated_at
           from resource
           where workspace_id = $1 and resource_type = 'credentials' and lifecycle_state in ('active', 'blocked')
             and attributes->>'account_id' = $2 and attributes->>'kind' in ('api_key', 'legacy_token') and id collate "C" > $3
           order by id collate "C" limit $4`,
    values: [owner.workspace_id, owner.account_id, after, limit],
  });
  return z
    .array(keyRow)
    .parse(rows)
    .map((row) => ({
      id: row.id,
      name: row.name,
      kind: row.kind,
      scope: row.scope,
      state: row.lifecycle_state,
      ...(row.expires_at && { expiresAtMs: BigInt(Date.parse(row.expires_at)) }),
      createdAtMs: BigInt(row.created_at.getTime()),
      updatedAtMs: BigInt(row.updated_at.getTime()),
    }));
}
