import type { Decision } from '@longwave/ad-decision';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { DecideRequest, DecideResponse } from '@longwave/rpc/serving';
import { createDuration, type Logger } from '@longwave/service-kit';
import type { CountedSlot } from '../goals/goal-guard.ts';
import type { CurrentPlans } from '../plans/current-plans.ts';
import type { ShareCounts } from '../shares/share-counts.ts';
import type { CurrentSuspensions } from '../suspensions/current-suspensions.ts';
import type { DecisionArchive } from './decision-archive.ts';
import { capKeysOf, decideWithinLimits, type CountedDecision, type Limits } from './decide-within-limits.ts';
import { answerOf, renderAnswer, traceOf, type StoredAnswer } from './decision-record.ts';
import type { WriteDecision } from './decision-writer.ts';
import { parsePlayRequest, type PlayRequest } from './play-request.ts';

export type DecidePlay = (
  request: DecideRequest,
  call: Pick<RpcContext, 'deadline' | 'signal'>,
) => Promise<DecideResponse>;

export interface DecidePlayOptions extends Limits {
  readonly decisions: Pick<DecisionArchive, 'find'>;
  readonly plans: Pick<CurrentPlans, 'find' | 'isAwaited'>;
  readonly suspensions: Pick<CurrentSuspensions, 'active'>;
  readonly shares: Pick<ShareCounts, 'shareOf' | 'count'>;
  readonly write: WriteDecision;
  /** A name for one attempt at a decision, never used before. */
  readonly newAttempt: () => string;
  readonly logger: Logger;
}

/** The decision for a workspace without a published plan. */
export const noPlan: Decision = {
  picks: [],
  noAdReason: 'no_plan',
  opportunities: [],
  stages: [],
  candidates: [],
  verdicts: [],
  policies: [],
};

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
 * Decides one play: plan, request, suspensions, shares and the listener's record give the picks; goals and caps are counted in
 * Redis before anything is promised, and the answer is stored before it is given. An id that has an answer gets that answer, on
 * every node and for ever.
 */
export function createDecidePlay(options: DecidePlayOptions): DecidePlay {
  const { decisions, plans, suspensions, goals, credit, listeners, shares, write, newAttempt, logger } = options;

  /** Makes the listener's record count the caps of the stored answer instead of those of this attempt. */
  async function reapplyCaps(
    { workspaceId, context, listener }: PlayRequest,
    capKeys: readonly string[],
  ): Promise<void> {
    if (!listener) return;
    const record = await listeners.read(workspaceId, listener);
    // When another play changes the record meanwhile, it keeps the counts of this attempt: a cap is reached early, never exceeded.
    if (record) await listeners.write(record, context.decisionId, capKeys, context.atMs);
  }

  /** The answer that the id already has; slots that this attempt counted beyond it are released. */
  async function earlierAnswer(
    request: PlayRequest,
    { countedSlots, decision }: CountedDecision,
    attempt: string,
  ): Promise<StoredAnswer> {
    const { decisionId } = request.context;
    const stored = await decisions.find(decisionId);
    if (!stored) throw new Error(`decision ${decisionId} is missing`);
    const usedLineItems = new Set(
      stored.countedSlots.filter((slot) => slot.attempt === attempt).map((slot) => slot.lineItemId),
    );
    const surplus = (slot: CountedSlot) => slot.attempt === attempt && !usedLineItems.has(slot.lineItemId);
    // Slots that cannot be released stay counted: the goal is then reached early, never exceeded.
    await goals.release(decisionId, countedSlots.filter(surplus)).catch((error: Error) => {
      logger.warn({ decision_id: decisionId, reason: error.message }, 'goals.release_failed');
    });
    if (stored.workspaceId !== request.workspaceId)
      throw new Problem('idempotency_conflict', 'This decision id belongs to another play; use a new one.');
    const keptKeys = stored.inputs?.cap_keys ?? [];
    if (keptKeys.join() !== capKeysOf(decision).join()) await reapplyCaps(request, keptKeys);
    if (stored.requestDigest !== request.digest)
      logger.debug({ decision_id: decisionId }, 'decision.asked_differently');
    return stored.answer;
  }

  async function decidePlay(request: PlayRequest, signal: AbortSignal): Promise<DecideResponse> {
    const startedMs = performance.now();
    const { workspaceId, context } = request;
    const { decisionId, atMs } = context;
    // "Not loaded yet" is no decision: it must not be stored, nor bound to a listener for a day.
    if (plans.isAwaited(workspaceId))
      throw new Problem('temporarily_unavailable', 'The plan of this workspace is not loaded yet.', {
        retryAfterSeconds: 1,
      });
    const plan = plans.find(workspaceId);
    const attempt = newAttempt();
    const suspended = plan && (await suspensions.active(workspaceId, plan.index));
    const counted: CountedDecision =
      plan && suspended
        ? await decideWithinLimits({ goals, credit, listeners, shares }, request, plan, suspended, attempt, signal)
        : { decision: noPlan, countedSlots: [], inputs: undefined };
    const { decision, countedSlots, inputs } = counted;
    const answer = answerOf(decisionId, plan?.servingPlanId, decision);
    const servings = decision.picks.map((pick) => pick.lineItemId);
    const shared = new Set(decision.opportunities);
    const shareServings = servings.filter((lineItemId) => shared.has(lineItemId));
    const written = await write({
      decisionId,
      workspaceId,
      atMs,
      servingPlanId: plan?.servingPlanId,
      planDigest: plan?.digest,
      requestDigest: request.digest,
      answer,
      trace: traceOf(request, plan, decision, answer),
      inputs: {
        context,
        told: inputs ?? { room: {}, shares: {}, heard: {} },
        suspensions: suspended?.digest ?? null,
        ...(plan?.policiesDigest !== undefined && { policies: plan.policiesDigest }),
        cap_keys: capKeysOf(decision),
      },
      countedSlots,
      shareOpportunities: decision.opportunities,
      shareServings,
    });
    if (written) shares.count(atMs, decision.opportunities, shareServings);
    const final = written ? answer : await earlierAnswer(request, counted, attempt);
    logger.debug(
      {
        decision_id: decisionId,
        workspace_id: workspaceId,
        serving_plan_id: final.serving_plan_id,
        picks: final.picks.length,
        reason: final.no_ad_reason,
        repeated: !written,
        duration_ms: Math.round((performance.now() - startedMs) * 100) / 100,
      },
      'decision.made',
    );
    return renderAnswer(final);
  }

  const duration = createDuration('longwave.decide.duration', 'Time from the request for a decision to its answer');
  return async (request, { deadline, signal }) => {
    const startedMs = performance.now();
    const record = (outcome: string) => duration.record((performance.now() - startedMs) / 1_000, { outcome });
    try {
      const play = parsePlayRequest(request);
      const answer = await beforeDeadline(deadline, () => decidePlay(play, signal));
      record(answer.noAdReason || 'filled');
      return answer;
    } catch (error) {
      record(error instanceof Problem ? error.code : 'internal_error');
      throw error;
    }
  };
}
