import { credentials } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { hasAccessBy } from '../identity-table.ts';
import type { Session } from '../sessions/session.ts';

const rowSchema = z.object({
  id: z.string(),
  ...credentials.attributes.pick({ name: true, kind: true, scope: true }).shape,
  expires_at: credentials.attributes.shape.expires_at.unwrap().nullable(),
  created_at: z.date(),
});

export type ListedCredential = z.output<typeof rowSchema>;

/** Keys and tokens of the account, and the person's own tokens for agents, the newest first. Digests are not read. */
export async function listCredentials(
  pool: Pool,
  { account, user }: Pick<Session, 'account' | 'user'>,
  now: Date,
): Promise<readonly ListedCredential[]> {
  const { rows } = await pool.query(
    `select c.id, c.attributes->>'name' as name, c.attributes->>'kind' as kind, c.attributes->>'scope' as scope,
            c.attributes->>'expires_at' as expires_at, c.created_at
     from resource c join resource a on a.id = c.attributes->>'account_id'
     where c.workspace_id = $1 and c.resource_type = 'credentials' and c.lifecycle_state in ('active', 'blocked')
       and a.id = $2 and coalesce((c.attributes->>'expires_at')::timestamptz > $4, true)
       and (c.attributes->>'kind' in ('api_key', 'legacy_token')
            or c.attributes->>'kind' = 'mcp_personal_token' and c.attributes->>'user_id' = $3
               and ${hasAccessBy('$3::text', 'c.created_at')})
     order by c.id collate "C" desc`,
    [account.workspaceId, account.id, user.id, now],
  );
  return z.array(rowSchema).parse(rows);
}
