import type { Decision } from '@longwave/ad-decision';
import { databaseOutage } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { DecideRequest, DecideResponse } from '@longwave/rpc/serving';
import { createDuration, type Logger } from '@longwave/service-kit';
import { noCounting, type GoalCounting } from '../goals/goal-counting.ts';
import type { OpenDecision, ServingNode } from '../leases/serving-node.ts';
import type { CurrentPlan, CurrentPlans } from '../plans/current-plans.ts';
import type { ShareCounts } from '../shares/share-counts.ts';
import type { ActiveSuspensions, CurrentSuspensions } from '../suspensions/current-suspensions.ts';
import type { DecisionArchive } from './decision-archive.ts';
import { capKeysOf, decideWithinLimits, type CountedDecision, type Limits } from './decide-within-limits.ts';
import { answerOf, renderAnswer, traceOf, type StoredAnswer } from './decision-record.ts';
import type { WriteDecision, WriteOutcome } from './decision-writer.ts';
import type { VerdictTally } from '../numbers/verdict-tally.ts';
import type { PlayListeners } from '../sample/play-listeners.ts';
import { parsePlayRequest, type PlayRequest } from './play-request.ts';
import type { NewDecision } from './stored-decision.ts';

export type DecidePlay = (
  request: DecideRequest,
  call: Pick<RpcContext, 'deadline' | 'signal'>,
) => Promise<DecideResponse>;

export interface DecidePlayOptions extends Omit<Limits, 'goals' | 'credit'> {
  readonly node: Pick<ServingNode, 'begin'>;
  readonly decisions: Pick<DecisionArchive, 'find'>;
  readonly plans: Pick<CurrentPlans, 'find' | 'isAwaited'>;
  readonly suspensions: Pick<CurrentSuspensions, 'active'>;
  readonly shares: Pick<ShareCounts, 'shareOf' | 'count'>;
  readonly write: WriteDecision;
  /** Takes note of the listener of a stored decision, for the sample of plays. */
  readonly noteListener?: PlayListeners['add'];
  /** Counts the verdicts of a stored decision. */
  readonly countVerdicts?: VerdictTally['add'];
  readonly logger: Logger;
}

/** A play that is being decided. */
interface OpenPlay {
  readonly request: PlayRequest;
  readonly plan: CurrentPlan | undefined;
  readonly suspended: ActiveSuspensions | undefined;
  readonly open: OpenDecision;
  /** Line items with goals whose slots were refused. */
  readonly refused: Set<string>;
  readonly signal: AbortSignal;
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

/** How often a play is decided again whose slots of goals were refused; afterwards it goes without any. */
const maxRefusals = 3;

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

/** The plan by which a workspace decides now, and what is suspended of it. Throws `temporarily_unavailable` before the plan is loaded. */
export async function findLoadedPlan(
  { plans, suspensions }: Pick<DecidePlayOptions, 'plans' | 'suspensions'>,
  workspaceId: string,
) {
  // "Not loaded yet" is no decision: it must not be stored, nor bound to a listener for a day.
  if (plans.isAwaited(workspaceId))
    throw new Problem('temporarily_unavailable', 'The plan of this workspace is not loaded yet.', {
      retryAfterSeconds: 1,
    });
  const plan = plans.find(workspaceId);
  return { plan, suspended: plan && (await suspensions.active(workspaceId, plan.index)) };
}

/**
 * Decides one play: plan, request, suspensions, shares and the listener's record give the picks; caps are counted in Redis, slots of
 * goals in the leases of this node before anything is promised, and the answer is stored before it is given.
 * The statement that stores it uses the leases; when they do not pay for it, the play is decided again without the refused line items. An id
 * that has an answer gets that answer, on every node and for ever.
 */
export function createDecidePlay(options: DecidePlayOptions): DecidePlay {
  const { decisions, node, listeners, shares, write, logger } = options;

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

  /** Stores a decision, and tells the leases that pay for it what became of it. */
  async function store(decision: NewDecision, { spending }: CountedDecision): Promise<WriteOutcome> {
    try {
      const outcome = await write(decision);
      spending?.settle(outcome === 'written' ? 'stored' : outcome === 'repeated' ? 'not_stored' : 'refused');
      return outcome;
    } catch (error) {
      spending?.settle(databaseOutage(error) ? 'unknown' : 'not_stored');
      throw error;
    }
  }

  /** The answer that the id already has. */
  async function earlierAnswer(request: PlayRequest, { decision }: CountedDecision): Promise<StoredAnswer> {
    const { decisionId } = request.context;
    const stored = await decisions.find(decisionId);
    if (!stored) throw new Error(`decision ${decisionId} is missing`);
    if (stored.workspaceId !== request.workspaceId)
      throw new Problem('idempotency_conflict', 'This decision id belongs to another play; use a new one.');
    const keptKeys = stored.inputs?.cap_keys ?? [];
    if (keptKeys.join() !== capKeysOf(decision).join()) await reapplyCaps(request, keptKeys);
    if (stored.requestDigest !== request.digest)
      logger.debug({ decision_id: decisionId }, 'decision.asked_differently');
    return stored.answer;
  }

  /** Decides and stores; undefined when slots of goals were refused: their line items are among the refused ones then. */
  async function decideOnce(
    { request, plan, suspended, open, refused, signal }: OpenPlay,
    goals: GoalCounting,
  ): Promise<{ readonly answer: StoredAnswer; readonly repeated: boolean } | undefined> {
    const { workspaceId, context } = request;
    const { decisionId, atMs } = context;
    const counted: CountedDecision =
      plan && suspended
        ? await decideWithinLimits(
            { goals, credit: open.credit, listeners, shares },
            request,
            plan,
            suspended,
            refused,
            signal,
          )
        : { decision: noPlan, countedSlots: [], inputs: undefined };
    const { decision, countedSlots, inputs } = counted;
    if (plan) open.credit?.addAsked(plan.index, decisionId, decision);
    const answer = answerOf(decisionId, plan?.servingPlanId, decision);
    const servings = decision.picks.map((pick) => pick.lineItemId);
    const shared = new Set(decision.opportunities);
    const shareServings = servings.filter((lineItemId) => shared.has(lineItemId));
    const newDecision: NewDecision = {
      ...{ decisionId, workspaceId, atMs, mode: open.mode, nodeEpoch: counted.spending?.nodeEpoch ?? open.nodeEpoch },
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
    };
    const outcome = await store(newDecision, counted);
    if (outcome === 'repeated') return { answer: await earlierAnswer(request, counted), repeated: true };
    if (outcome === 'refused') {
      for (const { lineItemId } of countedSlots) refused.add(lineItemId);
      logger.info({ decision_id: decisionId, line_item_ids: [...refused] }, 'decision.slots_refused');
      return undefined;
    }
    shares.count(decision.opportunities, shareServings);
    if (plan) options.countVerdicts?.({ workspaceId, decisionId, atMs, index: plan.index, decision });
    if (request.listener)
      options.noteListener?.({ decisionId, workspaceId, atMs: request.context.atMs, bucket: request.listener.current });
    return { answer, repeated: false };
  }

  async function decidePlay(request: PlayRequest, signal: AbortSignal): Promise<DecideResponse> {
    const startedMs = performance.now();
    const { workspaceId, context } = request;
    const { plan, suspended } = await findLoadedPlan(options, workspaceId);
    using open = node.begin();
    const play: OpenPlay = { request, plan, suspended, open, refused: new Set(), signal };
    let final = await decideOnce(play, open.goals);
    for (let refusals = 1; !final; refusals++)
      final = await decideOnce(play, refusals < maxRefusals ? open.goals : noCounting);
    logger.debug(
      {
        decision_id: context.decisionId,
        workspace_id: workspaceId,
        serving_plan_id: final.answer.serving_plan_id,
        picks: final.answer.picks.length,
        reason: final.answer.no_ad_reason,
        repeated: final.repeated,
        duration_ms: Math.round((performance.now() - startedMs) * 100) / 100,
      },
      'decision.made',
    );
    return renderAnswer(final.answer);
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
