import { hash } from 'node:crypto';
import {
  noSuspensions,
  suspendLines,
  type PlanIndex,
  type SuspendedLines,
  type Suspensions,
} from '@longwave/ad-decision';
import type { Pool } from '@longwave/postgres';
import canonicalize from 'canonicalize';
import { getSuspensions, insertSuspensionSet, listRevisions } from './serving-state-table.ts';

/** What is suspended of one plan. */
export interface InForce {
  /** SHA-256 (hex) of the kept set; null when nothing is suspended. */
  readonly digest: string | null;
  readonly lines: SuspendedLines | undefined;
}

export interface CurrentSuspensions {
  /** What is in force now, applied to the plan and kept for replays. Rejects when the database is away. */
  inForce(workspaceId: string, index: PlanIndex): Promise<InForce>;
  /** Looks for news of the workspaces that were asked for. Rejects when the database is away. */
  refresh(): Promise<void>;
}

interface Known {
  readonly revision: string | undefined;
  readonly suspensions: Suspensions;
  /** By the index it was applied to; a plan that is replaced is forgotten with its index. */
  readonly applied: WeakMap<PlanIndex, Promise<InForce>>;
}

const nothingText = canonicalize(noSuspensions)!;

/** This node's view of what may not serve, as old as its last poll of the table. */
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

  async function apply(workspaceId: string, index: PlanIndex, suspensions: Suspensions): Promise<InForce> {
    const { lines, relevant } = suspendLines(index, suspensions);
    const text = canonicalize(relevant)!;
    if (text === nothingText) return { digest: null, lines: undefined };
    const digest = hash('sha256', text, 'hex');
    await insertSuspensionSet(pool, workspaceId, digest, relevant);
    return { digest, lines };
  }

  return {
    async inForce(workspaceId, index) {
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
