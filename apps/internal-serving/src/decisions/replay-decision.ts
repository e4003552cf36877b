import {
  decide,
  replayInputs,
  suspendLines,
  toDecisionTrace,
  type DecisionContext,
  type PlanIndex,
} from '@longwave/ad-decision';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { isProblem, Problem } from '@longwave/problems';
import type { ExplainRequest, ExplainResponse, ReplayRequest, ReplayResponse } from '@longwave/rpc/serving';
import { LRUCache } from 'lru-cache';
import { loadPlan, type PlanDigests } from '../plans/load-plan.ts';
import { findSuspensionSet } from '../suspensions/serving-state-table.ts';
import { noPlan } from './decide-play.ts';
import { answerOf, outputDigestOf } from './decision-record.ts';
import type { DecisionArchive } from './decision-archive.ts';
import type { StoredDecision } from './stored-decision.ts';

export interface ReplayDecisions {
  /** Repeats a stored decision from its recorded inputs. Rejects with `not_found` outside its workspace. */
  readonly replay: (request: ReplayRequest) => Promise<ReplayResponse>;
  /** The redacted trace: no listener, no prices. Rejects with `not_found` outside its workspace. */
  readonly explain: (request: ExplainRequest) => Promise<ExplainResponse>;
}

/** Plans of earlier decisions kept in memory: traces are read a few at a time. */
const maxPlans = 2;

/** Values of context fields for decisions that are older than these fields. */
const contextDefaults: Partial<DecisionContext> = { operatingSystem: '' };

/** Replays and traces of stored decisions, by the plan of then from the object store. */
export function createReplayDecisions(
  pool: Pool,
  store: ObjectStore,
  decisions: Pick<DecisionArchive, 'find'>,
): ReplayDecisions {
  const plans = new LRUCache<string, PlanIndex>({ max: maxPlans });

  /** Undefined when the store no longer has it. */
  async function planOf(workspaceId: string, digests: PlanDigests): Promise<PlanIndex | undefined> {
    const key = `${workspaceId} ${digests.digest} ${digests.policiesDigest ?? ''}`;
    const kept = plans.get(key);
    if (kept) return kept;
    try {
      const index = await loadPlan(store, workspaceId, digests);
      plans.set(key, index);
      return index;
    } catch (error) {
      if (isProblem(error, 'object_not_found')) return undefined;
      throw error;
    }
  }

  async function getDecision({ workspaceId, decisionId }: ReplayRequest): Promise<StoredDecision> {
    const stored = await decisions.find(decisionId, workspaceId);
    if (!stored) throw new Problem('not_found', 'There is no such decision.');
    return stored;
  }

  /** SHA-256 (hex) of the repeated answer; undefined when an input is no longer there. */
  async function decideAgain(decisionId: string, stored: StoredDecision): Promise<string | undefined> {
    const { workspaceId, planDigest, inputs } = stored;
    if (!inputs) return undefined;
    if (planDigest === undefined) return outputDigestOf(answerOf(decisionId, undefined, noPlan));
    const [index, suspensions] = await Promise.all([
      planOf(workspaceId, { digest: planDigest, policiesDigest: inputs.policies }),
      findSuspensionSet(pool, workspaceId, inputs.suspensions),
    ]);
    if (!index || !suspensions) return undefined;
    const { told } = inputs;
    const context = { ...contextDefaults, ...inputs.context };
    const suspended = inputs.suspensions === null ? undefined : suspendLines(index, suspensions).lines;
    const decision = decide(index, context, replayInputs(index, told, suspended, context.atMs));
    return outputDigestOf(answerOf(decisionId, stored.servingPlanId, decision));
  }

  async function compare(decisionId: string, stored: StoredDecision): Promise<ReplayResponse> {
    const storedOutputDigest = stored.trace.output_digest;
    const replayedOutputDigest = await decideAgain(decisionId, stored);
    return {
      status:
        replayedOutputDigest === undefined
          ? 'inputs_expired'
          : replayedOutputDigest === storedOutputDigest
            ? 'identical'
            : 'differs',
      storedOutputDigest,
      replayedOutputDigest: replayedOutputDigest ?? '',
    };
  }

  return {
    replay: async (request) => compare(request.decisionId, await getDecision(request)),

    explain: async (request) => {
      const stored = await getDecision(request);
      const { index_version, ...trace } = stored.trace;
      const { status } = await compare(request.decisionId, stored);
      const view = {
        decision_id: request.decisionId,
        decided_at: new Date(stored.atMs).toISOString(),
        serving_plan_id: stored.servingPlanId ?? null,
        index_version,
        // Goals are counted at the decision.
        pacing_version: null,
        policy_versions: [],
        suspensions_version: stored.inputs?.suspensions ?? null,
        ...trace,
        picks: stored.answer.picks.map(
          ({ break_key, slot, serving_id, campaign_id, line_item_id, creative_id, duration_ms }) => ({
            break_key,
            slot,
            serving_id,
            campaign_id,
            line_item_id,
            creative_id,
            duration_ms,
          }),
        ),
        no_ad_reason: stored.answer.no_ad_reason || null,
        replay: { status },
      };
      return { traceJson: JSON.stringify(toDecisionTrace(view)) };
    },
  };
}
