import type { Pool } from '@longwave/postgres';

/** How long a term lives without renewal. */
const termSeconds = 10;
/** The one part of all line items, until they are divided by workspace. */
const shard = 1;

/**
 * SQL: the row of a term ($1), held until the statement's end, so that nobody takes a newer one before; no row once somebody has. Every
 * statement of the pacer begins with it and joins it.
 */
export const underTerm = `with term as materialized (select from pacer_term where shard = ${shard} and term = $1 for share)`;

/** Takes a new term when the last one has run out, or was this holder's own; answers it, or undefined. */
export async function takeTerm(pool: Pool, holder: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ term: number }>(
    `insert into pacer_term as p (shard, holder, term, expires_at)
     values (${shard}, $1, 1, now() + make_interval(secs => ${termSeconds}))
     on conflict (shard) do update set holder = excluded.holder, term = p.term + 1, expires_at = excluded.expires_at
       where p.expires_at < now() or p.holder = excluded.holder
     returning term::float8`,
    [holder],
  );
  return rows[0]?.term;
}

/** Keeps a term for another ten seconds; false once another has begun. */
export async function renewTerm(pool: Pool, term: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update pacer_term set expires_at = now() + make_interval(secs => ${termSeconds}) where shard = ${shard} and term = $1`,
    [term],
  );
  return rowCount === 1;
}

/** Ends a term, so that another node takes the next one at once. */
export async function endTerm(pool: Pool, term: number): Promise<void> {
  await pool.query(`update pacer_term set expires_at = to_timestamp(0) where shard = ${shard} and term = $1`, [term]);
}
