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

const insertText = `
  insert into decision (decision_id, workspace_id, at, serving_plan_id, plan_digest, request_digest, response, trace,
                        goal_line_items, goal_attempts)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  on conflict (decision_id) do nothing`;

/** Writes a decision by one statement unless its id has one. Answers whether it was written. */
export async function insertDecision(pool: Pool, row: DecisionRow): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'insert-decision',
    text: insertText,
    values: [
      row.decisionId,
      row.workspaceId,
      new Date(row.atMs),
      row.servingPlanId,
      row.planDigest,
      row.requestDigest,
      JSON.stringify(row.answer),
      JSON.stringify(row.trace),
      row.countedSlots.map((slot) => slot.lineItemId),
      row.countedSlots.map((slot) => slot.attempt),
    ],
  });
  return rowCount === 1;
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
