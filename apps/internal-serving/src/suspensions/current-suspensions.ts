import {
  noSuspensions,
  suspendLines,
  type PlanIndex,
  type SuspendedLines,
  type Suspensions,
} from '@longwave/ad-decision';
import { jcsDigest } from '@longwave/idempotency';
import type { Pool } from '@longwave/postgres';
import { getSuspensions, insertSuspensionSet, listRevisions } from './serving-state-table.ts';

/** The active suspensions of one plan. */
export interface ActiveSuspensions {
  /** `jcsDigest` of the kept set; null when nothing is suspended. */
  readonly digest: string | null;
  readonly lines: SuspendedLines | undefined;
}

export interface CurrentSuspensions {
  /** Those of now, applied to the plan and kept for replays. Rejects when the database is away. */
  active(workspaceId: string, index: PlanIndex): Promise<ActiveSuspensions>;
  /** Reloads the states that changed, of workspaces that were asked for. Rejects when the database is away. */
  refresh(): Promise<void>;
}

interface Known {
  readonly revision: string | undefined;
  readonly suspensions: Suspensions;
  /** By the index it was applied to; a plan that is replaced is forgotten with its index. */
  readonly applied: WeakMap<PlanIndex, Promise<ActiveSuspensions>>;
}

const nothingDigest = jcsDigest(noSuspensions);

/** This node's copy of the suspensions, as old as its last poll of the table. */
export function createCurrentSuspensions(pool: Pool): CurrentSuspensions {
  const known = new Map<string, Promise<Known>>();

  async function load(workspaceId: string, revision: string | undefined): Promise<Known> {
    return { revision, suspensions: await getSuspensions(pool, workspaceId), applied: new WeakMap() };
  }

  async function first(workspaceId: string): Promise<Known> {
    // The revision is read before the states: a change between the two is seen again, never missed.
    const revisions = await listRevisions(pool, [workspaceId]);
    return load(workspaceId, revisions.get(workspaceId));
  }

  async function apply(workspaceId: string, index: PlanIndex, suspensions: Suspensions): Promise<ActiveSuspensions> {
    const { lines, relevant } = suspendLines(index, suspensions);
    const digest = jcsDigest(relevant);
    if (digest === nothingDigest) return { digest: null, lines: undefined };
    await insertSuspensionSet(pool, workspaceId, digest, relevant);
    return { digest, lines };
  }

  return {
    async active(workspaceId, index) {
      let loading = known.get(workspaceId);
      if (!loading) {
        loading = first(workspaceId);
        known.set(workspaceId, loading);
        loading.catch(() => known.delete(workspaceId));
      }
      const { suspensions, applied } = await loading;
      let applying = applied.get(index);
      if (!applying) {
        applying = apply(workspaceId, index, suspensions);
        applied.set(index, applying);
        applying.catch(() => applied.delete(index));
      }
      return applying;
    },

    async refresh() {
      const revisions = await listRevisions(pool, [...known.keys()]);
      for (const [workspaceId, loading] of known) {
        const revision = revisions.get(workspaceId);
        if ((await loading).revision === revision) continue;
        const fresh = await load(workspaceId, revision);
        known.set(workspaceId, Promise.resolve(fresh));
      }
    },
  };
}
