import type { Pool } from '@longwave/postgres';

/** Stores revoked tokens, and deletes those that have expired: their expiry refuses them. */
export async function insertRevokedTokens(
  pool: Pool,
  tokens: readonly { readonly id: string; readonly expiresAt: string }[],
  now: Date,
): Promise<void> {
  await pool.query(
    `insert into revoked_token select * from unnest($1::text[], $2::timestamptz[]) on conflict do nothing`,
    [tokens.map(({ id }) => id), tokens.map(({ expiresAt }) => expiresAt)],
  );
  await pool.query(`delete from revoked_token where expires_at < $1::timestamptz - interval '1 day'`, [now]);
}

/** Whether a token is revoked. */
export async function isTokenRevoked(pool: Pool, tokenId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'is_token_revoked',
    text: `select from revoked_token where token_id = $1`,
    values: [tokenId],
  });
  return rowCount !== 0;
}
