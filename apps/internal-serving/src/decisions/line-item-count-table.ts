import type { Pool } from '@longwave/postgres';
import type { HourlyShare } from '../shares/share-counts.ts';
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
}

export function countsOf(decision: NewDecision): readonly LineItemCount[] {
  const { decisionId, countedSlots, shareServings, shareOpportunities } = decision;
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
  }));
}

/** Servings and opportunities per hour in the stored decisions since a time. */
export async function countShares(
  pool: Pool,
  lineItemIds: readonly string[],
  sinceMs: number,
): Promise<readonly HourlyShare[]> {
  // Releases up to 0.4.0 leave theirs in "decision".
  const { rows } = await pool.query<{ line_item_id: string; hour: number; served: number; opportunities: number }>(
    `select line_item_id, floor(extract(epoch from at) / 3600)::int as hour, sum(served)::int as served,
            sum(offered)::int as opportunities
     from (select line_item_id, hour as at, share_servings as served, share_opportunities as offered
           from line_item_count where line_item_id = any ($1) and hour >= date_trunc('hour', to_timestamp($2 / 1000.0), 'UTC')
           union all
           select one.id, decision.at, 0, 1
           from decision cross join unnest(share_opportunities) as one (id)
           where share_opportunities && $1::text[] and at >= to_timestamp($2 / 1000.0)
           union all
           select one.id, decision.at, 1, 0
           from decision cross join unnest(share_servings) as one (id)
           where share_opportunities && $1::text[] and at >= to_timestamp($2 / 1000.0)) as counted
     where line_item_id = any ($1) and (served > 0 or offered > 0)
     group by line_item_id, hour`,
    [lineItemIds, sinceMs],
  );
  return rows.map((row) => ({
    lineItemId: row.line_item_id,
    hour: row.hour,
    served: row.served,
    opportunities: row.opportunities,
  }));
}

/** How many slots the stored decisions gave to each of these line items; those without any are absent. */
export async function countGoalSlots(pool: Pool, lineItemIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
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
