import { decidePrepared, freshInputs, preparePlay, type Decision } from '@longwave/ad-decision';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { DecideRequest, DecideResponse } from '@longwave/rpc/serving';
import type { Logger } from '@longwave/service-kit';
import type { CountedSlot, GoalGuard, WantedSlots } from '../goals/goal-guard.ts';
import type { CurrentPlan, CurrentPlans } from '../plans/current-plans.ts';
import { answerOf, renderAnswer, traceOf, type StoredAnswer } from './decision-record.ts';
import { getDecision } from './decision-table.ts';
import type { WriteDecision } from './decision-writer.ts';
import { parsePlayRequest, type PlayRequest } from './play-request.ts';

export type DecidePlay = (
  request: DecideRequest,
  call: Pick<RpcContext, 'deadline' | 'signal'>,
) => Promise<DecideResponse>;

export interface DecidePlayOptions {
  readonly pool: Pool;
  readonly plans: Pick<CurrentPlans, 'find' | 'isAwaited'>;
  readonly goals: GoalGuard;
  readonly write: WriteDecision;
  /** A name for one attempt at a decision, never used before. */
  readonly newAttempt: () => string;
  readonly logger: Logger;
}

interface CountedDecision {
  readonly decision: Decision;
  readonly countedSlots: readonly CountedSlot[];
}

/** Decisions made anew because a goal was reached meanwhile; then goals are left out. */
const roundsMax = 4;

const noPlan: CountedDecision = {
  decision: { picks: [], noAdReason: 'no_plan', opportunities: [], stages: [], candidates: [] },
  countedSlots: [],
};

function wantedSlots(plan: CurrentPlan, decision: Decision): readonly WantedSlots[] {
  const wanted = new Map<string, WantedSlots>();
  for (const { ordinal, lineItemId } of decision.picks) {
    const { goalQuantity } = plan.index.lines[ordinal]!;
    if (goalQuantity === undefined) continue;
    const slots = (wanted.get(lineItemId)?.slots ?? 0) + 1;
    wanted.set(lineItemId, { lineItemId, slots, goalQuantity });
  }
  return [...wanted.values()];
}

/** Rejects with `timeout` when the caller stops waiting first; the work goes on, and a retry finds its answer. */
async function beforeDeadline<T>(deadline: Date, work: () => Promise<T>): Promise<T> {
  const leftMs = Math.min(deadline.getTime() - Date.now(), 2 ** 31 - 1);
  if (leftMs <= 0) throw new Problem('timeout', 'The deadline had passed when the request arrived.');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Problem('timeout', 'The decision was not ready in time.')), leftMs);
  });
  return Promise.race([work(), late]).finally(() => clearTimeout(timer));
}

/**
 * Decides one play: plan and request give the picks, goals are counted in Redis before anything is promised, and the
 * answer is stored before it is given. An id that has an answer gets that answer, on every node and for ever.
 */
export function createDecidePlay({ pool, plans, goals, write, newAttempt, logger }: DecidePlayOptions): DecidePlay {
  async function decideWithinGoals(
    { context }: PlayRequest,
    plan: CurrentPlan,
    attempt: string,
    signal: AbortSignal,
  ): Promise<CountedDecision> {
    const prepared = preparePlay(plan.index, context);
    const slotsMax = new Map<string, number>();
    for (let round = 1; ; round++) {
      if (signal.aborted) throw new Problem('timeout', 'The caller has gone.');
      const withGoals = round < roundsMax;
      const room = (ordinal: number) => {
        const { lineItemId } = plan.index.lines[ordinal]!;
        return Math.min(goals.room(lineItemId), slotsMax.get(lineItemId) ?? Infinity);
      };
      const decision = decidePrepared(prepared, {
        ...freshInputs,
        heard: undefined,
        room: withGoals ? room : undefined,
      });
      const wanted = wantedSlots(plan, decision);
      if (wanted.length === 0) return { decision, countedSlots: [] };
      const reservation = await goals.reserve(context.decisionId, attempt, wanted);
      if (reservation.kind === 'counted') return { decision, countedSlots: reservation.slots };
      if (reservation.kind === 'refused') for (const [id, max] of reservation.slotsMax) slotsMax.set(id, max);
    }
  }

  /** The answer that the id already has; what this attempt counted beyond it goes back. */
  async function earlierAnswer(
    request: PlayRequest,
    counted: readonly CountedSlot[],
    attempt: string,
  ): Promise<StoredAnswer> {
    const { decisionId } = request.context;
    const stored = await getDecision(pool, decisionId);
    const relied = new Set(
      stored.countedSlots.filter((slot) => slot.attempt === attempt).map((slot) => slot.lineItemId),
    );
    const surplus = counted.filter((slot) => slot.attempt === attempt && !relied.has(slot.lineItemId));
    // What cannot be given back stays counted: the goal is then reached early, never exceeded.
    await goals.release(decisionId, surplus).catch((error: Error) => {
      logger.warn({ decision_id: decisionId, reason: error.message }, 'goals.release_failed');
    });
    if (stored.workspaceId !== request.workspaceId)
      throw new Problem('idempotency_conflict', 'This decision id belongs to another play; use a new one.');
    if (stored.requestDigest !== request.digest)
      logger.debug({ decision_id: decisionId }, 'decision.asked_differently');
    return stored.answer;
  }

  async function decidePlay(request: PlayRequest, signal: AbortSignal): Promise<DecideResponse> {
    const startedMs = performance.now();
    const { workspaceId, context } = request;
    // "Not loaded yet" is no decision: it must not be stored, nor bound to a listener for a day.
    if (plans.isAwaited(workspaceId))
      throw new Problem('temporarily_unavailable', 'The plan of this workspace is not loaded yet.', {
        retryAfterSeconds: 1,
      });
    const plan = plans.find(workspaceId);
    const attempt = newAttempt();
    const { decision, countedSlots } = plan ? await decideWithinGoals(request, plan, attempt, signal) : noPlan;
    const answer = answerOf(request, plan, decision);
    const written = await write({
      decisionId: context.decisionId,
      workspaceId,
      atMs: context.atMs,
      servingPlanId: plan?.servingPlanId,
      planDigest: plan?.digest,
      requestDigest: request.digest,
      answer,
      trace: traceOf(request, plan, decision, answer),
      countedSlots,
    });
    const given = written ? answer : await earlierAnswer(request, countedSlots, attempt);
    logger.debug(
      {
        decision_id: context.decisionId,
        workspace_id: workspaceId,
        serving_plan_id: given.serving_plan_id,
        picks: given.picks.length,
        reason: given.no_ad_reason,
        repeated: !written,
        duration_ms: Math.round((performance.now() - startedMs) * 100) / 100,
      },
      'decision.made',
    );
    return renderAnswer(given);
  }

  return async (request, { deadline, signal }) => {
    const play = parsePlayRequest(request);
    return beforeDeadline(deadline, () => decidePlay(play, signal));
  };
}
