import type { PlanIndex } from '@longwave/ad-decision';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import type { PlannedLine } from './paced-lines.ts';
import { loadServingPlan } from './load-plan.ts';
import { listCurrentPlans, type PlanPointer } from './published-plan-table.ts';

/** The plan that decides in one workspace. */
export interface CurrentPlan {
  readonly servingPlanId: string;
  readonly digest: string;
  readonly policiesDigest: string | undefined;
  readonly index: PlanIndex;
}

interface PacedPlan extends CurrentPlan {
  readonly paced: readonly PlannedLine[];
}

export interface CurrentPlans {
  find(workspaceId: string): CurrentPlan | undefined;
  /** True while the workspace has, or may have, an active plan that this node has not loaded. */
  isAwaited(workspaceId: string): boolean;
  /** True while this node has another plan of the workspace than the one that was published last, or none of it. */
  isOutdated(workspaceId: string): boolean;
  /**
   * Reads the table and loads new plans; answers whether a plan was added or removed. Rejects when the table cannot be read; a plan
   * that cannot be loaded is logged and tried again, at most once a minute.
   * @param beforeUse called with the line items with a goal that loaded plans have and those before them had not; the plans are used when it
   * resolves, and until then those before them
   */
  refresh(beforeUse?: (added: readonly PlannedLine[]) => Promise<void>): Promise<boolean>;
  /**
   * Line items of all plans that have a goal of units, with what the pacer needs of them: the same list while the plans are the same. Those of
   * loaded plans that are not used yet are among them.
   */
  listPaced(): readonly PlannedLine[];
  /** Line items of all plans that have a share of breaks. */
  listShared(): readonly string[];
  /** Whether the table was read at least once. */
  isReady(): boolean;
}

interface Failure {
  readonly delayMs: number;
  readonly retryAtMs: number;
}

const maxConcurrentLoads = 8;
const retry = { initialMs: 1_000, maxMs: 60_000 } as const;

/** This node's compiled plans. A new one replaces the old one at once and whole; one that cannot be loaded leaves the old one. */
export function createCurrentPlans(pool: Pool, store: ObjectStore, clock: () => Date, logger: Logger): CurrentPlans {
  let plans: ReadonlyMap<string, PacedPlan> = new Map();
  let paced: readonly PlannedLine[] = [];
  const failures = new Map<string, Failure>();
  /** The digest of each workspace's active plan, loaded or not. */
  let published: ReadonlyMap<string, string> = new Map();
  /** The digest of each workspace's plan that `paced` is of: loaded, and used or about to be; undefined before the table was read. */
  let pacedDigests: ReadonlyMap<string, string> | undefined;
  let ready = false;

  async function load({ workspaceId, servingPlanId, ...digests }: PlanPointer): Promise<PacedPlan | undefined> {
    const old = plans.get(workspaceId);
    if (old?.digest === digests.digest && old.policiesDigest === digests.policiesDigest)
      return { ...old, servingPlanId };
    const failure = failures.get(servingPlanId);
    if (failure && clock().getTime() < failure.retryAtMs) return old;
    try {
      const { index, paced } = await loadServingPlan(store, workspaceId, digests);
      failures.delete(servingPlanId);
      logger.info(
        { workspace_id: workspaceId, serving_plan_id: servingPlanId, line_items: index.lines.length },
        'plan.loaded',
      );
      return { servingPlanId, ...digests, index, paced };
    } catch (error) {
      const delayMs = Math.min(failure ? failure.delayMs * 2 : retry.initialMs, retry.maxMs);
      failures.set(servingPlanId, { delayMs, retryAtMs: clock().getTime() + delayMs });
      const reason = (error as Error).message;
      logger.warn(
        { workspace_id: workspaceId, serving_plan_id: servingPlanId, kept: old?.servingPlanId, reason },
        'plan.refused',
      );
      return old;
    }
  }

  /** Line items of loaded plans that their workspace did not have before. */
  const addedBy = (next: ReadonlyMap<string, PacedPlan>): readonly PlannedLine[] =>
    [...next].flatMap(([workspaceId, plan]) => {
      const before = plans.get(workspaceId);
      if (before?.index === plan.index) return [];
      const known = new Set(before?.paced.map((line) => line.lineItemId));
      return plan.paced.filter((line) => !known.has(line.lineItemId));
    });

  async function readPlans(beforeUse: (added: readonly PlannedLine[]) => Promise<void>): Promise<boolean> {
    const pointers = await listCurrentPlans(pool, clock());
    // Set before loading, which may take long: until then a workspace with a plan gets no decision, instead of one without ads.
    published = new Map(pointers.map(({ workspaceId, digest }) => [workspaceId, digest]));
    const next = new Map<string, PacedPlan>();
    for (let from = 0; from < pointers.length; from += maxConcurrentLoads) {
      const batch = pointers.slice(from, from + maxConcurrentLoads);
      const loaded = await Promise.all(batch.map(load));
      batch.forEach(({ workspaceId }, at) => {
        const plan = loaded[at];
        if (plan) next.set(workspaceId, plan);
      });
    }
    const named = new Set(pointers.map((pointer) => pointer.servingPlanId));
    for (const servingPlanId of failures.keys()) if (!named.has(servingPlanId)) failures.delete(servingPlanId);
    pacedDigests = new Map([...next].map(([workspaceId, { digest }]) => [workspaceId, digest]));
    const changed = next.size !== plans.size || [...next].some(([id, plan]) => plans.get(id)?.index !== plan.index);
    if (changed) {
      const nextPaced = [...next.values()].flatMap((plan) => plan.paced);
      const added = addedBy(next);
      if (added.length > 0) {
        paced = [...new Map([...paced, ...nextPaced].map((line) => [line.lineItemId, line])).values()];
        await beforeUse(added);
      }
      paced = nextPaced;
    }
    plans = next;
    ready = true;
    return changed;
  }

  let reading: Promise<boolean> | undefined;
  return {
    find: (workspaceId) => plans.get(workspaceId),
    isAwaited: (workspaceId) => !plans.has(workspaceId) && (!ready || published.has(workspaceId)),
    isOutdated: (workspaceId) => !pacedDigests || pacedDigests.get(workspaceId) !== published.get(workspaceId),
    refresh: (beforeUse = async () => undefined) =>
      (reading ??= readPlans(beforeUse).finally(() => (reading = undefined))),
    listPaced: () => paced,
    listShared: () =>
      [...plans.values()].flatMap(({ index }) => index.sharedOrdinals.map((at) => index.lines[at]!.lineItemId)),
    isReady: () => ready,
  };
}
