import { randomUUID } from 'node:crypto';
import { createVerdictCounts, type Decision, type PlanIndex } from '@longwave/ad-decision';
import type { VerdictSum } from './verdict-table.ts';

const hourMs = 3_600_000;
/** Flushes after which an hour without new decisions is forgotten. */
const maxIdleFlushes = 360;

/** A decision that was stored, with the plan that it was made under. */
interface CountedVerdicts {
  readonly workspaceId: string;
  readonly decisionId: string;
  /** Time of the play. */
  readonly atMs: number;
  readonly index: PlanIndex;
  readonly decision: Pick<Decision, 'verdicts'>;
}

/** Counts what this process decides about line items. */
export interface VerdictTally {
  /** Adds a stored decision, once; nothing is read or written. */
  add(counted: CountedVerdicts): void;
  /** Writes the sums since the beginning of each hour that have changed. What could not be written is written the next time. */
  flush(): Promise<void>;
}

interface Hour {
  /** Names its sums: one that was forgotten and has decisions again begins anew under another. */
  readonly counterId: string;
  readonly counts: Map<
    PlanIndex,
    { readonly workspaceId: string; readonly verdicts: ReturnType<typeof createVerdictCounts> }
  >;
  /** Since the beginning of the hour, by line item and code. */
  readonly sums: Map<string, VerdictSum>;
  /** Names of sums that are not written. */
  readonly changed: Set<string>;
  idleFlushes: number;
}

/** @param save writes sums; those of the same counter, line item and code are replaced, so that an unknown outcome does no harm */
export function createVerdictTally(save: (sums: readonly VerdictSum[]) => Promise<void>): VerdictTally {
  const hours = new Map<number, Hour>();

  function hourOf(atMs: number): Hour {
    const at = Math.floor(atMs / hourMs) * hourMs;
    const known = hours.get(at);
    if (known) return known;
    const made: Hour = {
      ...{ counterId: randomUUID(), counts: new Map(), sums: new Map(), changed: new Set(), idleFlushes: 0 },
    };
    hours.set(at, made);
    return made;
  }

  /** Moves what was counted under each plan to the sums. Plans that are not decided by any more can then be forgotten. */
  function sumUp(atMs: number, { counterId, counts, sums, changed }: Hour): void {
    for (const { workspaceId, verdicts } of counts.values())
      for (const { lineItemId, code, considered, notLookedAt } of verdicts.drain()) {
        const name = `${lineItemId} ${code}`;
        const known = sums.get(name);
        changed.add(name);
        sums.set(name, {
          ...{ workspaceId, lineItemId, code, counterId, hourMs: atMs },
          considered: (known?.considered ?? 0) + considered,
          notLookedAt: (known?.notLookedAt ?? 0) + notLookedAt,
        });
      }
    counts.clear();
  }

  return {
    add: ({ workspaceId, decisionId, atMs, index, decision }) => {
      const { counts } = hourOf(atMs);
      const known = counts.get(index) ?? { workspaceId, verdicts: createVerdictCounts(index) };
      counts.set(index, known);
      known.verdicts.add(decisionId, decision);
    },

    flush: async () => {
      for (const [atMs, hour] of hours) {
        sumUp(atMs, hour);
        const names = [...hour.changed];
        if (names.length > 0) await save(names.map((name) => hour.sums.get(name)!));
        for (const name of names) hour.changed.delete(name);
        hour.idleFlushes = names.length > 0 ? 0 : hour.idleFlushes + 1;
        if (hour.idleFlushes > maxIdleFlushes && hour.counts.size === 0) hours.delete(atMs);
      }
    },
  };
}
