import type { Pool } from '@longwave/postgres';

/** Counts a refused message under its authority, its code and the UTC day. */
export async function countRefusal(pool: Pool, authorityId: string, code: string, now: Date): Promise<void> {
  await pool.query({
    name: 'count_refusal',
    text: `insert into refusal (authority_id, day, code, refusals) values ($1, $2, $3, 1)
           on conflict (authority_id, day, code) do update set refusals = refusal.refusals + 1`,
    values: [authorityId, now.toISOString().slice(0, 10), code],
  });
}
