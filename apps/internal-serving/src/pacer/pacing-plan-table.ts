import type { HourPlan } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

export interface StoredPlan extends HourPlan {
  readonly lineItemId: string;
}

/** The digests of all plans, by line item. */
export async function listPlanDigests(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<Columns<'pacing_plan', 'line_item_id' | 'digest'>>(
    'select line_item_id, digest from pacing_plan',
  );
  return new Map(rows.map((row) => [row.line_item_id, row.digest]));
}

/** The plans of these line items; at most a few hundred, as each has hundreds of hours. */
export async function readPlans(pool: Pool, lineItemIds: readonly string[]): Promise<readonly StoredPlan[]> {
  const { rows } = await pool.query<
    Columns<'pacing_plan', 'line_item_id' | 'digest' | 'starts_at' | 'hours' | 'learning'>
  >('select line_item_id, digest, starts_at, hours, learning from pacing_plan where line_item_id = any ($1)', [
    lineItemIds,
  ]);
  return rows.map((row) => ({
    lineItemId: row.line_item_id,
    digest: row.digest,
    startsAtMs: row.starts_at.getTime(),
    hours: row.hours ?? [],
    isLearning: row.learning,
  }));
}
