import type { Pool, Session } from '@longwave/postgres';
import type { NodeMode } from '../leases/node-mode.ts';
import type { NewDecision } from './stored-decision.ts';

const hourMs = 3_600_000;

/** What decisions gave of a line item and offered it. */
export interface LineItemSum {
  readonly lineItemId: string;
  readonly hourMs: number;
  readonly goalSlots: number;
  readonly shareServings: number;
  readonly shareOpportunities: number;
  readonly mode: NodeMode;
  readonly nodeEpoch: number;
}

/** What one decision counts, once a line item. */
export function countsOf(decision: NewDecision): readonly LineItemSum[] {
  const { countedSlots, shareServings, shareOpportunities, mode, nodeEpoch } = decision;
  if (countedSlots.length + shareServings.length + shareOpportunities.length === 0) return [];
  const slots = countedSlots.map((slot) => slot.lineItemId);
  const of = (lineItemIds: readonly string[], lineItemId: string) =>
    lineItemIds.reduce((count, each) => (each === lineItemId ? count + 1 : count), 0);
  return [...new Set([...slots, ...shareServings, ...shareOpportunities])].map((lineItemId) => ({
    lineItemId,
    hourMs: Math.floor(decision.atMs / hourMs) * hourMs,
    goalSlots: of(slots, lineItemId),
    shareServings: of(shareServings, lineItemId),
    shareOpportunities: of(shareOpportunities, lineItemId),
    ...{ mode, nodeEpoch },
  }));
}

/** Sums by line item, hour, mode and node. */
export function sumCounts(counts: readonly LineItemSum[]): readonly LineItemSum[] {
  const sums = new Map<string, { -readonly [K in keyof LineItemSum]: LineItemSum[K] }>();
  for (const count of counts) {
    const key = `${count.lineItemId} ${count.hourMs} ${count.mode} ${count.nodeEpoch}`;
    const sum = sums.get(key);
    if (!sum) {
      sums.set(key, { ...count });
      continue;
    }
    sum.goalSlots += count.goalSlots;
    sum.shareServings += count.shareServings;
    sum.shareOpportunities += count.shareOpportunities;
  }
  return [...sums.values()];
}

/**
 * How many slots the stored decisions gave to each of these line items; those without any are absent. What leases paid for is there once
 * the mode is guard again (`insertLeasedSlots`).
 */
export async function countGoalSlots(
  pool: Pool | Session,
  lineItemIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  // In "decision" those of releases up to 0.4.0; the rows without a workspace show the others to such releases.
  const { rows } = await pool.query<{ line_item_id: string; slots: number }>(
    `select line_item_id, sum(slots)::int as slots
     from (select line_item_id, goal_slots as slots from line_item_count where line_item_id = any ($1) and goal_slots > 0
           union all
           select slot.id, 1 from decision cross join unnest(goal_line_items) as slot (id)
           where goal_line_items && $1::text[] and workspace_id <> '' and slot.id = any ($1)) as counted
     group by line_item_id`,
    [lineItemIds],
  );
  return new Map(rows.map((row) => [row.line_item_id, row.slots]));
}

/**
 * How many of these slots were given from a time on, in ms, which is another one for each line item. Counts are by the hour, so the hour in
 * which it lies counts whole.
 */
export async function countGoalSlotsSince(
  pool: Pool | Session,
  since: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ line_item_id: string; slots: number }>(
    `with since as (
       select id, date_trunc('hour', to_timestamp(ms / 1000.0), 'UTC') as since from unnest($1::text[], $2::float8[]) as one (id, ms))
     select line_item_id, sum(slots)::int as slots
     from (select line_item_id, goal_slots as slots from line_item_count join since on id = line_item_id and hour >= since
           where goal_slots > 0
           union all
           select slot.id, 1 from decision cross join unnest(goal_line_items) as slot (id) join since on since.id = slot.id and at >= since
           where goal_line_items && $1::text[] and workspace_id <> '') as counted
     group by line_item_id`,
    [[...since.keys()], [...since.values()]],
  );
  return new Map(rows.map((row) => [row.line_item_id, row.slots]));
}

/** Counts slots that leases paid for, which their decisions did not count here: for the guard, which counts from now on. */
export async function insertLeasedSlots(tx: Session, slots: ReadonlyMap<string, number>): Promise<void> {
  await tx.query(
    `insert into line_item_count (line_item_id, hour, batch_id, goal_slots, share_servings, share_opportunities, mode)
     select line_item_id, date_trunc('hour', now(), 'UTC'), gen_random_uuid(), slots, 0, 0, 'lease'
     from unnest($1::text[], $2::int[]) as one (line_item_id, slots)`,
    [[...slots.keys()], [...slots.values()]],
  );
}
