import type { Pool } from '@longwave/postgres';
import type { CountedSlot } from '../goals/goal-guard.ts';
import type { StoredAnswer } from './decision-record.ts';

/** One row of table `decision`. */
export interface DecisionRow {
  readonly decisionId: string;
  readonly workspaceId: string;
  readonly atMs: number;
  readonly servingPlanId: string | undefined;
  readonly planDigest: string | undefined;
  readonly requestDigest: string;
  readonly answer: StoredAnswer;
  readonly trace: unknown;
  /** One per slot that a line item with a goal took. */
  readonly countedSlots: readonly CountedSlot[];
}

export type StoredDecision = Pick<DecisionRow, 'workspaceId' | 'requestDigest' | 'answer' | 'countedSlots'>;

// Sorted by id, so that two nodes that write the same ids wait for each other and never deadlock.
const insertText = `
  insert into decision (decision_id, workspace_id, at, serving_plan_id, plan_digest, request_digest, response, trace,
                        goal_line_items, goal_attempts)
  select decision_id, workspace_id, to_timestamp(at_ms / 1000.0), serving_plan_id, plan_digest, request_digest, response, trace,
         goal_line_items, goal_attempts
  from json_to_recordset($1) as given (decision_id text, workspace_id text, at_ms bigint, serving_plan_id text,
       plan_digest text, request_digest text, response jsonb, trace jsonb, goal_line_items text[], goal_attempts text[])
  order by decision_id
  on conflict (decision_id) do nothing
  returning decision_id`;

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

/** The decision of an id. Throws when there is none. */
export async function getDecision(pool: Pool, decisionId: string): Promise<StoredDecision> {
  const { rows } = await pool.query<{
    workspace_id: string;
    request_digest: string;
    response: StoredAnswer;
    goal_line_items: string[];
    goal_attempts: string[];
  }>({
    name: 'get-decision',
    text: `select workspace_id, request_digest, response, goal_line_items, goal_attempts from decision where decision_id = $1`,
    values: [decisionId],
  });
  const [row] = rows;
  if (!row) throw new Error(`decision ${decisionId} is missing`);
  return {
    workspaceId: row.workspace_id,
    requestDigest: row.request_digest,
    answer: row.response,
    countedSlots: row.goal_line_items.map((lineItemId, at) => ({ lineItemId, attempt: row.goal_attempts[at]! })),
  };
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
