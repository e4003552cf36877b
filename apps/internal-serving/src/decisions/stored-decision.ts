import { z } from 'zod';
import type { CountedSlot } from '../goals/goal-counting.ts';
import type { NodeMode } from '../leases/node-mode.ts';
import type { StoredAnswer, StoredInputs, StoredTrace } from './decision-record.ts';

/** A decision as it is stored, without its id. */
export interface StoredDecision {
  readonly workspaceId: string;
  readonly atMs: number;
  readonly servingPlanId: string | undefined;
  readonly planDigest: string | undefined;
  /** SHA-256 (hex) of the request. */
  readonly requestDigest: string;
  readonly answer: StoredAnswer;
  readonly trace: StoredTrace;
  /** Undefined in decisions that are older than replay. */
  readonly inputs: StoredInputs | undefined;
  /** One per slot that a line item with a goal took. */
  readonly countedSlots: readonly CountedSlot[];
}

/** A decision that is to be stored. */
export interface NewDecision extends StoredDecision {
  readonly decisionId: string;
  readonly inputs: StoredInputs;
  /** Line items with a share, once per break in which they could have served. */
  readonly shareOpportunities: readonly string[];
  /** The same, once per slot that they took. */
  readonly shareServings: readonly string[];
  /** How its slots of goals are counted. */
  readonly mode: NodeMode;
  /** The node whose leases pay for the slots of goals, and under which its shares are counted; 0 for none. */
  readonly nodeEpoch: number;
}

/** A row whose decision cannot be read: of a form that this release does not know, without the texts that it names, or damaged. */
export class UnreadableDecision extends Error {
  readonly decisionId: string;

  constructor(decisionId: string, cause: unknown) {
    super(`decision ${decisionId} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.decisionId = decisionId;
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** A whole decision as the archive has it, and the rows of releases up to 0.4.0. */
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

/** The line of a decision in the archive; inverse of `toStoredDecision`. */
export function archiveLine(decisionId: string, decision: StoredDecision): string {
  const row: z.input<typeof wholeRow> = {
    decision_id: decisionId,
    workspace_id: decision.workspaceId,
    at: new Date(decision.atMs).toISOString(),
    serving_plan_id: decision.servingPlanId ?? null,
    plan_digest: decision.planDigest ?? null,
    request_digest: decision.requestDigest,
    response: decision.answer,
    trace: decision.trace,
    inputs: decision.inputs ?? null,
    goal_line_items: decision.countedSlots.map((slot) => slot.lineItemId),
    goal_attempts: decision.countedSlots.map((slot) => slot.attempt),
    // Counted by the hour since packed decisions.
    share_opportunities: [],
    share_servings: [],
  };
  return JSON.stringify(row);
}
