import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import type { Columns } from '../generated/rows.ts';
import { hasAccessBy, isProven } from '../identity-table.ts';
import type { SignInProof } from './session.ts';

/** Records that a session begins, before its credential is there. */
export async function insertSessionUse(
  pool: Pool,
  credentialId: string,
  { passwordGivenAt, proof, now }: { readonly passwordGivenAt: Date; readonly proof: SignInProof; readonly now: Date },
): Promise<void> {
  await pool.query(
    `insert into session_use (credential_id, password_given_at, last_used_at, password_set_at, second_factor_since)
     values ($1, $2, $3, $4, $5)`,
    [credentialId, passwordGivenAt, now, proof.passwordSetAt, proof.secondFactorSince],
  );
}

/** Records a use, at most once a minute. */
export async function touchSession(pool: Pool, credentialId: string, now: Date): Promise<void> {
  await pool.query({
    name: 'touch_session',
    text: `update session_use set last_used_at = $2 where credential_id = $1 and last_used_at <= $2::timestamptz - interval '1 minute'`,
    values: [credentialId, now],
  });
}

/** When the password was given last, and what was given; undefined for a session that this service did not begin. */
export async function findSignIn(
  pool: Pool,
  credentialId: string,
): Promise<{ readonly at: Date; readonly proof: SignInProof } | undefined> {
  const { rows } = await pool.query<
    Columns<'session_use', 'password_given_at' | 'password_set_at' | 'second_factor_since'>
  >('select password_given_at, password_set_at, second_factor_since from session_use where credential_id = $1', [
    credentialId,
  ]);
  const [row] = rows;
  return (
    row && {
      at: row.password_given_at,
      proof: { passwordSetAt: row.password_set_at, secondFactorSince: row.second_factor_since },
    }
  );
}

const sessionRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  account_name: z.string(),
  created_at: z.date(),
  last_used_at: z.date(),
});

/** Sessions of a person that count, the last used one first. */
export async function listSessions(pool: Pool, userId: string, now: Date) {
  const { rows } = await pool.query(
    `select c.id, c.workspace_id, c.attributes->>'name' as name, a.attributes->>'name' as account_name, c.created_at,
            coalesce(s.last_used_at, c.created_at) as last_used_at
     from resource c
     join resource a on a.id = c.attributes->>'account_id'
     left join session_use s on s.credential_id = c.id
     where c.resource_type = 'credentials' and c.lifecycle_state = 'active' and c.attributes->>'user_id' = $1
       and c.attributes->>'kind' = 'browser_session' and (c.attributes->>'expires_at')::timestamptz > $2
       and ${isProven} and ${hasAccessBy(`c.attributes->>'user_id'`, 'c.created_at')}
     order by last_used_at desc`,
    [userId, now],
  );
  return z
    .array(sessionRow)
    .parse(rows)
    .map((row) => ({
      credentialId: row.id,
      account: { workspaceId: row.workspace_id, name: row.account_name },
      name: row.name,
      beganAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }));
}
