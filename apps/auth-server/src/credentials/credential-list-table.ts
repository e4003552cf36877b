import { credentials } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import { z } from 'zod';
import type { Columns } from '../generated/rows.ts';
import { hasAccessBy } from '../identity-table.ts';

const rowSchema = z.object({
  id: z.string(),
  lifecycle_state: z.enum(['active', 'blocked']),
  ...credentials.attributes.pick({ name: true, kind: true, scope: true }).shape,
  expires_at: credentials.attributes.shape.expires_at.unwrap().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
  /** Name of the person whom it stands for; null for keys and tokens of the account. */
  person: z.string().nullable(),
});

export type ListedCredential = z.output<typeof rowSchema>;

/** Whose list it is, in which account. */
type Reader = Pick<Principal, 'account_id' | 'workspace_id' | 'user_id'>;

/** Keys and tokens of the account and of its members, and the reader's own tokens for agents. Digests are not read. */
const visible = `
  select c.id, c.lifecycle_state, c.attributes->>'name' as name, c.attributes->>'kind' as kind, c.attributes->>'scope' as scope,
         c.attributes->>'expires_at' as expires_at, c.created_at, c.updated_at, u.attributes->>'name' as person
  from resource c
  join resource a on a.id = c.attributes->>'account_id'
  left join resource u on u.id = c.attributes->>'user_id'
  where c.workspace_id = $1 and c.resource_type = 'credentials' and c.lifecycle_state in ('active', 'blocked') and a.id = $2
    and (c.attributes->>'kind' in ('api_key', 'legacy_token')
         or c.attributes->>'kind' = 'mcp_personal_token' and c.attributes->>'user_id' = $3)
    and (not c.attributes ? 'user_id' or ${hasAccessBy(`c.attributes->>'user_id'`, 'c.created_at')})`;

const ofReader = ({ workspace_id: workspaceId, account_id: accountId, user_id: userId }: Reader) => [
  workspaceId,
  accountId,
  userId ?? null,
];

/** Keys and tokens that stand for a person, in every account: tokens for agents, and keys that the person made as a member. */
export async function listPersonalTokens(
  pool: Pool,
  userId: string,
): Promise<readonly Columns<'resource', 'id' | 'workspace_id'>[]> {
  const { rows } = await pool.query<Columns<'resource', 'id' | 'workspace_id'>>(
    `select id, workspace_id from resource
     where resource_type = 'credentials' and lifecycle_state in ('active', 'blocked')
       and attributes->>'user_id' = $1 and attributes->>'kind' in ('api_key', 'legacy_token', 'mcp_personal_token')`,
    [userId],
  );
  return rows;
}

/** The reader's list without what has expired, the newest first. */
export async function listCredentials(pool: Pool, reader: Reader, now: Date): Promise<readonly ListedCredential[]> {
  const { rows } = await pool.query(
    `${visible} and coalesce((c.attributes->>'expires_at')::timestamptz > $4, true) order by c.id collate "C" desc`,
    [...ofReader(reader), now],
  );
  return z.array(rowSchema).parse(rows);
}

/** A part of the reader's list, the oldest first, after an id. */
export async function listCredentialsAfter(
  pool: Pool,
  reader: Reader,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly ListedCredential[]> {
  const { rows } = await pool.query({
    name: 'list_credentials_after',
    text: `${visible} and c.id collate "C" > $4 order by c.id collate "C" limit $5`,
    values: [...ofReader(reader), after, limit],
  });
  return z.array(rowSchema).parse(rows);
}
