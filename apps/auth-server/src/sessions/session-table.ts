import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** Records that a session begins, before its credential is there. */
export async function insertSessionUse(
  pool: Pool,
  credentialId: string,
  { passwordGivenAt, now }: { readonly passwordGivenAt: Date; readonly now: Date },
): Promise<void> {
  await pool.query('insert into session_use (credential_id, password_given_at, last_used_at) values ($1, $2, $3)', [
    credentialId,
    passwordGivenAt,
    now,
  ]);
}

/** Records a use, at most once a minute. */
export async function touchSession(pool: Pool, credentialId: string, now: Date): Promise<void> {
  await pool.query({
    name: 'touch_session',
    text: `update session_use set last_used_at = $2 where credential_id = $1 and last_used_at <= $2::timestamptz - interval '1 minute'`,
    values: [credentialId, now],
  });
}

/** When the password was given last; undefined for a session that this service did not begin. */
export async function findPasswordTime(pool: Pool, credentialId: string): Promise<Date | undefined> {
  const { rows } = await pool.query<Columns<'session_use', 'password_given_at'>>(
    'select password_given_at from session_use where credential_id = $1',
    [credentialId],
  );
  return rows[0]?.password_given_at;
}
