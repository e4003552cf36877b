import type { VerdictCode } from '@longwave/ad-decision';
import type { Pool } from '@longwave/postgres';
import type { HourRange } from './opportunity-table.ts';

/** How often a verdict was given to a line item in an hour, by one counter. */
export interface VerdictSum {
  readonly workspaceId: string;
  readonly lineItemId: string;
  readonly hourMs: number;
  readonly code: VerdictCode;
  /** UUID. */
  readonly counterId: string;
  /** Breaks in which it was looked at: exact. */
  readonly considered: number;
  /** Breaks in which it could have served and was not looked at: estimated. */
  readonly notLookedAt: number;
}

/** Rows of one statement. */
const batchSize = 5_000;

/** Writes sums in place of those that their counters wrote before. */
export async function saveVerdicts(pool: Pool, all: readonly VerdictSum[]): Promise<void> {
  for (let at = 0; at < all.length; at += batchSize) {
    const sums = all.slice(at, at + batchSize);
    await pool.query({
      name: 'save-verdicts',
      text: `insert into verdict_hour as v (line_item_id, hour, code, counter_id, workspace_id, considered, not_looked_at)
             select line_item_id, to_timestamp(hour_ms / 1000.0), code, counter_id, workspace_id, considered, not_looked_at
             from unnest($1::text[], $2::float8[], $3::text[], $4::uuid[], $5::text[], $6::bigint[], $7::bigint[])
               as one (line_item_id, hour_ms, code, counter_id, workspace_id, considered, not_looked_at)
             on conflict (line_item_id, hour, code, counter_id) do update
               set considered = greatest(v.considered, excluded.considered), not_looked_at = greatest(v.not_looked_at, excluded.not_looked_at)`,
      values: [
        sums.map((one) => one.lineItemId),
        sums.map((one) => one.hourMs),
        sums.map((one) => one.code),
        sums.map((one) => one.counterId),
        sums.map((one) => one.workspaceId),
        sums.map((one) => one.considered),
        sums.map((one) => one.notLookedAt),
      ],
    });
  }
}

/** Sums over all counters of a line item in a workspace, the oldest hour first; of another workspace none. */
export async function sumVerdicts(
  pool: Pool,
  workspaceId: string,
  lineItemId: string,
  { from, to }: HourRange,
): Promise<readonly Pick<VerdictSum, 'hourMs' | 'code' | 'considered' | 'notLookedAt'>[]> {
  const { rows } = await pool.query<Pick<VerdictSum, 'hourMs' | 'code' | 'considered' | 'notLookedAt'>>({
    name: 'sum-verdicts',
    text: `select (extract(epoch from hour) * 1000)::float8 as "hourMs", code, sum(considered)::float8 as considered,
             sum(not_looked_at)::float8 as "notLookedAt"
           from verdict_hour where line_item_id = $1 and workspace_id = $2 and hour >= $3 and hour < $4
           group by hour, code order by hour, code`,
    values: [lineItemId, workspaceId, from, to],
  });
  return rows;
}

/** Removes sums of hours before a time; at most so many rows. */
export async function removeOldVerdicts(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from verdict_hour where ctid in (select ctid from verdict_hour where hour < $1 limit $2 for update skip locked)`,
    [before, maxRows],
  );
  return rowCount ?? 0;
}
