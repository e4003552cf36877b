import { credentials } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
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
    `select id, attributes->>'name' as name, attributes->>'kind' as kind, attributes->>'scope' as scope,
            attributes->>'expires_at' as expires_at, created_at
     from resource
     where workspace_id = $1 and resource_type = 'credentials' and lifecycle_state in ('active', 'blocked')
       and attributes->>'account_id' = $2 and coalesce((attributes->>'expires_at')::timestamptz > $4, true)
       and (attributes->>'kind' in ('api_key', 'legacy_token')
            or attributes->>'kind' = 'mcp_personal_token' and attributes->>'user_id' = $3)
     order by id collate "C" desc`,
    [account.workspaceId, account.id, user.id, now],
  );
  return z.array(rowSchema).parse(rows);
}
