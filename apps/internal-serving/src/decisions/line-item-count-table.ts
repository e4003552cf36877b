import type { Pool, Session } from '@longwave/postgres';
import type { NodeMode } from '../leases/node-mode.ts';
import type { NewDecision } from './stored-decision.ts';

const hourMs = 3_600_000;

/** What one decision gave of a line item and offered it. */
export interface LineItemCount {
  readonly decisionId: string;
  readonly lineItemId: string;
  readonly hourMs: number;
  readonly goalSlots: number;
  readonly shareServings: number;
  readonly shareOpportunities: number;
  readonly mode: NodeMode;
  readonly nodeEpoch: number;
}

export function countsOf(decision: NewDecision): readonly LineItemCount[] {
  const { decisionId, countedSlots, shareServings, shareOpportunities, mode, nodeEpoch } = decision;
  const slots = countedSlots.map((slot) => slot.lineItemId);
  const of = (lineItemIds: readonly string[], lineItemId: string) =>
    lineItemIds.reduce((count, each) => (each === lineItemId ? count + 1 : count), 0);
  return [...new Set([...slots, ...shareServings, ...shareOpportunities])].map((lineItemId) => ({
    decisionId,
    lineItemId,
    hourMs: Math.floor(decision.atMs / hourMs) * hourMs,
    goalSlots: of(slots, lineItemId),
    shareServings: of(shareServings, lineItemId),
    shareOpportunities: of(shareOpportunities, lineItemId),
    ...{ mode, nodeEpoch },
  }));
}

/** How many slots the stored decisions gave to each of these line items; those without any are absent. */
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
