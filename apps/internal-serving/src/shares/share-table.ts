import type { Share } from '@longwave/ad-decision';
import type { Pool } from '@longwave/postgres';

/** Opportunities and servings of line items since a time, over all nodes; those without any are absent. */
export async function sumShares(
  pool: Pool,
  lineItemIds: readonly string[],
  since: Date,
): Promise<ReadonlyMap<string, Share>> {
  if (lineItemIds.length === 0) return new Map();
  const { rows } = await pool.query<{ line_item_id: string; served: number; opportunities: number }>({
    name: 'sum-shares',
    text: `select line_item_id, sum(served)::float8 as served, sum(opportunities)::float8 as opportunities
           from share_hour where line_item_id = any ($1) and hour >= $2 group by line_item_id`,
    values: [lineItemIds, since],
  });
  return new Map(rows.map(({ line_item_id, served, opportunities }) => [line_item_id, { served, opportunities }]));
}

/** Removes hours before a time, at most so many rows; answers how many. */
export async function removeOldShares(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from share_hour where ctid in (select ctid from share_hour where hour < $1 limit $2 for update skip locked)`,
    [before, maxRows],
  );
  return rowCount ?? 0;
}
