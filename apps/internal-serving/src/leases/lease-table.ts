import type { UrgencyLevel } from '@longwave/ad-decision';
import type { Pool } from '@longwave/postgres';
import type { QuotaLease } from './lease-credits.ts';

export interface LeaseRows {
  readonly leases: readonly QuotaLease[];
  /** The newest time at which one of them was revised; undefined without any. */
  readonly revisedAt: Date | undefined;
}

/** A revision may be committed after a later one was read: its time is that of the beginning of its transaction. */
const overlapSeconds = 5;

/** A node's leases that were revised since a time, and those of further line items. */
export async function readLeases(
  pool: Pool,
  nodeEpoch: number,
  revisedSince: Date,
  lineItemIds: readonly string[],
): Promise<LeaseRows> {
  const { rows } = await pool.query<{
    line_item_id: string;
    granted: number;
    used: number;
    rate_per_s: number;
    burst: number;
    closed: boolean;
    revised_at: Date;
  }>({
    name: 'read-leases',
    text: `select line_item_id, granted::float8, used::float8, rate_per_s, burst, closed, revised_at from quota_lease
           where node_epoch = $1 and (revised_at > $2::timestamptz - make_interval(secs => ${overlapSeconds}) or line_item_id = any ($3::text[]))`,
    values: [nodeEpoch, revisedSince, lineItemIds],
  });
  const newestMs = Math.max(...rows.map((row) => row.revised_at.getTime()));
  return {
    leases: rows.map((row) => ({
      lineItemId: row.line_item_id,
      granted: row.granted,
      used: row.used,
      ratePerS: row.rate_per_s,
      burst: row.burst,
      closed: row.closed,
    })),
    revisedAt: rows.length > 0 ? new Date(newestMs) : undefined,
  };
}

/** How far line items are behind their plans, as of the pacer's last tick: those whose level is not 0. */
export async function readUrgencies(pool: Pool): Promise<ReadonlyMap<string, UrgencyLevel>> {
  const { rows } = await pool.query<{ line_item_id: string; urgency: UrgencyLevel }>({
    name: 'read-urgencies',
    text: 'select line_item_id, urgency from line_pacing where urgency between 1 and 3',
  });
  return new Map(rows.map((row) => [row.line_item_id, row.urgency]));
}

/**
 * Gives back what a node that ends has left of its leases: nothing can be used of them afterwards. In the order of the line items, as all
 * who lock leases do.
 */
export async function giveBackLeases(pool: Pool, nodeEpoch: number): Promise<void> {
  await pool.query({
    name: 'give-back-leases',
    text: `with held as (select node_epoch, line_item_id from quota_lease
                         where node_epoch = $1 and not closed order by line_item_id for update)
           update quota_lease l set granted = l.used, revised_at = now() from held
           where l.node_epoch = held.node_epoch and l.line_item_id = held.line_item_id`,
    values: [nodeEpoch],
  });
}
