import type { OldRows } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import type { Columns } from '../generated/rows.ts';
import type { CountedSlot } from '../goals/goal-guard.ts';
import type { HourlyShare } from '../shares/share-counts.ts';
import type { StoredAnswer, StoredInputs, StoredTrace } from './decision-record.ts';

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

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
  const newRows = decisions.map((row) => ({
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
    values: [JSON.stringify(newRows)],
  });
  return new Set(rows.map((row) => row.decision_id));
}

/** A whole row as PostgreSQL and the archive have it. */
const wholeRow = z.strictObject({
  decision_id: z.string(),
  workspace_id: z.string(),
  at: z.iso.datetime(),
  serving_plan_id: z.string().nullable(),
  plan_digest: z.string().nullable(),
  request_digest: z.string(),
  // Written by this service and never changed since.
  response: z.custom<StoredAnswer>(isObject),
  trace: z.custom<StoredTrace>(isObject),
  inputs: z.custom<StoredInputs>(isObject).nullable(),
  goal_line_items: z.array(z.string()),
  goal_attempts: z.array(z.string()),
  share_opportunities: z.array(z.string()),
  share_servings: z.array(z.string()),
});

/** SQL: the whole row `d` as one line of JSON. */
const wholeLine = `json_build_object('decision_id', d.decision_id, 'workspace_id', d.workspace_id,
  'at', to_char(d.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'serving_plan_id', d.serving_plan_id,
  'plan_digest', d.plan_digest, 'request_digest', d.request_digest, 'response', d.response, 'trace', d.trace, 'inputs', d.inputs,
  'goal_line_items', d.goal_line_items, 'goal_attempts', d.goal_attempts, 'share_opportunities', d.share_opportunities,
  'share_servings', d.share_servings)::text`;

/** A decision from a whole row as JSON. Throws for anything else. */
export function toStoredDecision(json: unknown): StoredDecision {
  const row = wholeRow.parse(json);
  return {
    workspaceId: row.workspace_id,
    atMs: Date.parse(row.at),
    servingPlanId: row.serving_plan_id ?? undefined,
    planDigest: row.plan_digest ?? undefined,
    requestDigest: row.request_digest,
    answer: row.response,
    trace: row.trace,
    inputs: row.inputs ?? undefined,
    countedSlots: row.goal_line_items.map((lineItemId, at) => ({ lineItemId, attempt: row.goal_attempts[at]! })),
  };
}

/** The decision itself, or the day and digest of the object that it was moved to. */
export type FoundDecision =
  | { readonly kind: 'stored'; readonly decision: StoredDecision }
  | { readonly kind: 'archived'; readonly day: string; readonly digest: string };

/** SQL: the UTC day of row `d`. */
const dayOf = `to_char(d.at at time zone 'UTC', 'YYYY-MM-DD')`;

/**
 * A decision as PostgreSQL has it, or undefined.
 * @param workspaceId a decision of another workspace is not found; absent: of any
 */
export async function findDecisionRow(
  pool: Pool,
  decisionId: string,
  workspaceId?: string,
): Promise<FoundDecision | undefined> {
  const { rows } = await pool.query<{ line: string | null; day: string; digest: string | null }>({
    name: 'find-decision',
    text: `select case when archived_in is null then ${wholeLine} end as line, ${dayOf} as day,
                  encode(archived_in, 'hex') as digest
           from decision d where decision_id = $1 and ($2::text is null or workspace_id = $2)`,
    values: [decisionId, workspaceId ?? null],
  });
  const [row] = rows;
  if (!row) return undefined;
  if (row.digest !== null) return { kind: 'archived', day: row.day, digest: row.digest };
  return { kind: 'stored', decision: toStoredDecision(JSON.parse(row.line!)) };
}

/** Whole rows of the oldest UTC day before a time, always in the same order; undefined when there is none. */
export async function readOldestDay(pool: Pool, before: Date, maxRows: number): Promise<OldRows | undefined> {
  // A decision that is not published yet stays: its publication reads the row.
  const movable = `archived_in is null and d.at < $1
    and not exists (select from decision_announcement waiting where waiting.decision_id = d.decision_id)`;
  const { rows } = await pool.query<Columns<'decision', 'decision_id'> & { day: string; line: string }>({
    name: 'read-oldest-decisions',
    text: `with oldest as (select date_trunc('day', d.at, 'UTC') as day from decision d where ${movable} order by d.at limit 1)
           select d.decision_id, ${dayOf} as day, ${wholeLine} as line from oldest, decision d
           where ${movable} and d.at >= oldest.day and d.at < oldest.day + interval '1 day'
           order by d.at, d.decision_id limit $2`,
    values: [before, maxRows],
  });
  const [first] = rows;
  return first && { day: first.day, rows: rows.map(({ decision_id: id, line }) => ({ id, line })) };
}

/**
 * Empties rows that an object of the archive holds, and records its digest. Their ids stay taken, and the slots of line items with goals counted.
 */
export async function markArchived(pool: Pool, decisionIds: readonly string[], digest: string): Promise<void> {
  await pool.query({
    name: 'mark-archived',
    text: `update decision set archived_in = decode($2, 'hex'), response = null, trace = null, inputs = null, request_digest = '',
             serving_plan_id = null, plan_digest = null, goal_attempts = '{}', share_opportunities = '{}', share_servings = '{}'
           where decision_id = any ($1) and archived_in is null`,
    values: [decisionIds, digest],
  });
}

/** Servings and opportunities per hour in the stored decisions since a time. */
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
