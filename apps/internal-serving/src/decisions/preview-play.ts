import { decidePrepared, preparePlay, recordInputs, type Decision } from '@longwave/ad-decision';
import { Problem } from '@longwave/problems';
import type { PreviewDecisionRequest, PreviewDecisionResponse } from '@longwave/rpc/serving';
import { noCounting } from '../goals/goal-counting.ts';
import type { OpenDecision, ServingNode } from '../leases/serving-node.ts';
import type { CurrentPlan, CurrentPlans } from '../plans/current-plans.ts';
import type { ShareCounts } from '../shares/share-counts.ts';
import type { ActiveSuspensions, CurrentSuspensions } from '../suspensions/current-suspensions.ts';
import { findLoadedPlan, noPlan } from './decide-play.ts';
import { answerOf, renderAnswer, traceOf } from './decision-record.ts';
import { parsePlayRequest, type PlayRequest } from './play-request.ts';

/** Decides a play that nobody hears as a listener. Throws as `DecidePlay` does, but for deadlines: it waits for no other service. */
export type PreviewPlay = (request: PreviewDecisionRequest) => Promise<PreviewDecisionResponse>;

export interface PreviewPlayOptions {
  readonly node: Pick<ServingNode, 'begin'>;
  readonly plans: Pick<CurrentPlans, 'find' | 'isAwaited'>;
  readonly suspensions: Pick<CurrentSuspensions, 'active'>;
  readonly shares: Pick<ShareCounts, 'shareOf'>;
}

/**
 * Decides once with the same core as a play, over the same plan, halts and shares, for a listener who has heard nothing; it reads what
 * counts and writes none of it. Where it is not held to what goals may give now, every goal has room and no line item is urgent.
 */
function decideDry(
  { context }: PlayRequest,
  { index }: CurrentPlan,
  suspended: ActiveSuspensions,
  { goals, credit }: Pick<OpenDecision, 'goals' | 'credit'>,
  shares: PreviewPlayOptions['shares'],
  asPaced: boolean,
): Decision {
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;
  const prepared = preparePlay(index, context, suspended.lines);
  // The set of credit is asked before the units of each line item.
  const withCredit = asPaced ? credit?.creditOf(index) : undefined;
  const remaining = credit ? credit.remainingOf(index) : (ordinal: number) => goals.remaining(idOf(ordinal));
  const { inputs } = recordInputs(
    index,
    {
      remaining: !asPaced ? () => Infinity : goals === noCounting ? undefined : remaining,
      credit: withCredit,
      urgency: asPaced ? credit?.urgencyOf(index) : undefined,
      share: (ordinal) => shares.shareOf(idOf(ordinal)),
      frequencyRecord: () => 0,
    },
    context.atMs,
  );
  return decidePrepared(prepared, inputs);
}

/** Decides plays dry (docs/adr/0119-a-preview-is-decided-dry.md): no decision, lease, cap, share or number changes. */
export function createPreviewPlay({ node, shares, ...options }: PreviewPlayOptions): PreviewPlay {
  return async ({ play, asPaced }) => {
    if (!play) throw new Problem('validation_failed', 'The play is missing.');
    const nobody = { listenerBucket: Buffer.alloc(0), previousListenerBucket: Buffer.alloc(0) };
    const request = parsePlayRequest({ ...play, ...nobody });
    const { workspaceId, context } = request;
    const { plan, suspended } = await findLoadedPlan(options, workspaceId);
    using open = node.begin();
    const decision = plan && suspended ? decideDry(request, plan, suspended, open, shares, asPaced) : noPlan;
    const answer = answerOf(context.decisionId, plan?.servingPlanId, decision);
    const { stages, candidates } = traceOf(request, plan, decision, answer);
    return { answer: renderAnswer(answer), traceJson: JSON.stringify({ stages, candidates }) };
  };
}
