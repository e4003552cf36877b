import type { Pool } from '@longwave/postgres';
import type { CountedSlot } from '../goals/goal-guard.ts';
import type { HourlyShare } from '../shares/share-counts.ts';
import type { StoredAnswer, StoredInputs, StoredTrace } from './decision-record.ts';

/** One row of table `decision`. */
export interface DecisionRow {
  readonly decisionId: string;
  readonly workspaceId: string;
  readonly atMs: number;
  readonly servingPlanId: string | undefined;
  readonly planDigest: string | undefined;
  readonly requestDigest: string;
  readonly answer: StoredAnswer;
  readonly trace: StoredTrace;
  /** Undefined in rows that are older than replay. */
  readonly inputs: StoredInputs | undefined;
  /** One per slot that a line item with a goal took. */
  readonly countedSlots: readonly CountedSlot[];
  /** Line items with a share, once per break in which they could have served. */
  readonly shareOpportunities: readonly string[];
  /** The same, once per slot that they took. */
  readonly shareServings: readonly string[];
}

export type StoredDecision = Omit<DecisionRow, 'decisionId' | 'shareOpportunities' | 'shareServings'>;

// Sorted by id, so that two nodes that write the same ids wait for each other and never deadlock.
const insertText = `
  with written as (
    insert into decision (decision_id, workspace_id, at, serving_plan_id, plan_digest, request_digest, response, trace, inputs,
                          goal_line_items, goal_attempts, share_opportunities, share_servings)
    select decision_id, workspace_id, to_timestamp(at_ms / 1000.0), serving_plan_id, plan_digest, request_digest, response, trace,
           inputs, goal_line_items, goal_attempts, share_opportunities, share_servings
    from json_to_recordset($1) as given (decision_id text, workspace_id text, at_ms bigint, serving_plan_id text,
         plan_digest text, request_digest text, response jsonb, trace jsonb, inputs jsonb, goal_line_items text[],
         goal_attempts text[], share_opportunities text[], share_servings text[])
    order by decision_id
    on conflict (decision_id) do nothing
    returning decision_id, jsonb_array_length(response -> 'picks') as picks),
  announced as (insert into decision_announcement (decision_id) select decision_id from written where picks > 0)
  select decision_id from written`;

/** Writes decisions of different ids by one statement, each unless its id has one. Answers the ids that were written. */
export async function insertDecisions(pool: Pool, decisions: readonly DecisionRow[]): Promise<ReadonlySet<string>> {
  const given = decisions.map((row) => ({
    decision_id: row.decisionId,
    workspace_id: row.workspaceId,
    at_ms: row.atMs,
    serving_plan_id: row.servingPlanId,
    plan_digest: row.planDigest,
    request_digest: row.requestDigest,
    response: row.answer,
    trace: row.trace,
    inputs: row.inputs,
    share_opportunities: row.shareOpportunities,
    share_servings: row.shareServings,
    goal_line_items: row.countedSlots.map((slot) => slot.lineItemId),
    goal_attempts: row.countedSlots.map((slot) => slot.attempt),
  }));
  const { rows } = await pool.query<{ decision_id: string }>({
    name: 'insert-decisions',
    text: insertText,
    values: [JSON.stringify(given)],
  });
  return new Set(rows.map((row) => row.decision_id));
}

/** The decision of an id, or undefined. */
export async function findDecision(pool: Pool, decisionId: string): Promise<StoredDecision | undefined> {
  const { rows } = await pool.query<{
    workspace_id: string;
    at: Date;
    serving_plan_id: string | null;
    plan_digest: string | null;
    request_digest: string;
    response: StoredAnswer;
    trace: StoredTrace;
    inputs: StoredInputs | null;
    goal_line_items: string[];
    goal_attempts: string[];
  }>({
    name: 'find-decision',
    text: `select workspace_id, at, serving_plan_id, plan_digest, request_digest, response, trace, inputs, goal_line_items,
                  goal_attempts
           from decision where decision_id = $1`,
    values: [decisionId],
  });
  const [row] = rows;
  return (
    row && {
      workspaceId: row.workspace_id,
      atMs: row.at.getTime(),
      servingPlanId: row.serving_plan_id ?? undefined,
      planDigest: row.plan_digest ?? undefined,
      requestDigest: row.request_digest,
      answer: row.response,
      trace: row.trace,
      inputs: row.inputs ?? undefined,
      countedSlots: row.goal_line_items.map((lineItemId, at) => ({ lineItemId, attempt: row.goal_attempts[at]! })),
    }
  );
}

/** Per hour what the stored decisions since a time say of shares. */
export async function countShares(
  pool: Pool,
  lineItemIds: readonly string[],
  sinceMs: number,
): Promise<readonly HourlyShare[]> {
  const { rows } = await pool.query<{ line_item_id: string; hour: number; served: number; opportunities: number }>(
    `select line_item_id, floor(extract(epoch from at) / 3600)::int as hour, sum(served)::int as served,
            sum(offered)::int as opportunities
     from (select decision.at, one.id as line_item_id, 0 as served, 1 as offered
           from decision cross join unnest(share_opportunities) as one (id)
           where share_opportunities && $1::text[] and at >= to_timestamp($2 / 1000.0)
           union all
           select decision.at, one.id, 1, 0
           from decision cross join unnest(share_servings) as one (id)
           where share_opportunities && $1::text[] and at >= to_timestamp($2 / 1000.0)) as counted
     where line_item_id = any ($1)
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
  const { rows } = await pool.query<{ line_item_id: string; slots: number }>(
    `select slot.line_item_id, count(*)::int as slots
     from decision cross join unnest(goal_line_items) as slot (line_item_id)
     where goal_line_items && $1::text[] and slot.line_item_id = any ($1)
     group by slot.line_item_id`,
    [lineItemIds],
  );
  return new Map(rows.map((row) => [row.line_item_id, row.slots]));
}
