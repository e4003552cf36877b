import {
  addBit,
  createBits,
  createUrgency,
  hasBit,
  removeBit,
  setUrgency,
  type Bits,
  type PlanIndex,
  type Urgency,
  type UrgencyLevel,
} from '@longwave/ad-decision';
import type { GoalCredit } from '../goals/goal-credit.ts';
import type { HeldLease, LeaseCredits } from './lease-credits.ts';

export interface PlanCredit extends Pick<GoalCredit, 'creditOf' | 'urgencyOf'> {
  /** Units that a line item with a goal may be given now, by its ordinal. To be asked after `creditOf`, before anything pauses. */
  remainingOf(index: PlanIndex): (ordinal: number) => number;
  /** The line item has nothing left: decisions need not look at it. */
  exhaust(lineItemId: string): void;
  /** Levels that are not 0, of line items of any plan; the others have 0. */
  setUrgencies(levels: ReadonlyMap<string, UrgencyLevel>): void;
}

/** Buckets fill by themselves: credit that comes so is seen as late as this. */
const renewEveryMs = 50;
/** Exhausted line items that are remembered one by one; beyond it the sets are made anew. */
const maxExhausted = 4_096;

interface IndexedGoals {
  /** Ordinals of the line items with a goal. */
  readonly ordinals: readonly number[];
  readonly ordinalOf: ReadonlyMap<string, number>;
  /** By ordinal. */
  leases: (HeldLease | undefined)[];
  readonly credit: Bits;
  /** Line items with a lease that had no credit when they were looked at last. */
  empty: Set<number>;
  revision: number;
  renewedAtMs: number;
  /** How many exhausted line items it knows of. */
  seen: number;
  urgency: Urgency | undefined;
  /** The levels that `urgency` was made of. */
  levels: ReadonlyMap<string, UrgencyLevel> | undefined;
}

/**
 * The credit of this node's leases as sets of ordinals, so that a decision does not walk over line items that have none. A set is made when leases
 * were read, loses what is exhausted at once, and gets back what buckets filled.
 */
export function createPlanCredit(
  credits: Pick<LeaseCredits, 'find' | 'creditIn' | 'revision'>,
  monotonicMs: () => number,
): PlanCredit {
  const byIndex = new WeakMap<PlanIndex, IndexedGoals>();
  let exhausted: string[] = [];
  /** Grows when `exhausted` begins anew. */
  let era = 0;
  let levels: ReadonlyMap<string, UrgencyLevel> = new Map();

  function goalsOf(index: PlanIndex): IndexedGoals {
    const known = byIndex.get(index);
    if (known) return known;
    const ordinals = index.lines.flatMap((_, ordinal) => (hasBit(index.goals, ordinal) ? [ordinal] : []));
    const made: IndexedGoals = {
      ordinals,
      ordinalOf: new Map(ordinals.map((ordinal) => [index.lines[ordinal]!.lineItemId, ordinal])),
      ...{ leases: [], credit: createBits(index.lines.length), empty: new Set<number>() },
      ...{ revision: -1, renewedAtMs: -Infinity, seen: 0, urgency: undefined, levels: undefined },
    };
    byIndex.set(index, made);
    return made;
  }

  /** By the leases as they are now. */
  function makeAnew(index: PlanIndex, goals: IndexedGoals, nowMs: number): void {
    goals.leases = new Array<HeldLease | undefined>(index.lines.length).fill(undefined);
    goals.empty.clear();
    goals.credit.fill(0);
    for (const ordinal of goals.ordinals) {
      const lease = credits.find(index.lines[ordinal]!.lineItemId);
      if (!lease) continue;
      goals.leases[ordinal] = lease;
      if (credits.creditIn(lease, nowMs) > 0) addBit(goals.credit, ordinal);
      else goals.empty.add(ordinal);
    }
  }

  return {
    creditOf(index) {
      const goals = goalsOf(index);
      const nowMs = monotonicMs();
      const revision = credits.revision() + era;
      if (goals.revision !== revision) {
        goals.revision = revision;
        goals.renewedAtMs = nowMs;
        makeAnew(index, goals, nowMs);
      } else {
        for (; goals.seen < exhausted.length; goals.seen++) {
          const ordinal = goals.ordinalOf.get(exhausted[goals.seen]!);
          if (ordinal === undefined) continue;
          removeBit(goals.credit, ordinal);
          goals.empty.add(ordinal);
        }
        if (nowMs - goals.renewedAtMs >= renewEveryMs) {
          goals.renewedAtMs = nowMs;
          for (const ordinal of goals.empty) {
            const lease = goals.leases[ordinal];
            if (!lease || credits.creditIn(lease, nowMs) === 0) continue;
            addBit(goals.credit, ordinal);
            goals.empty.delete(ordinal);
          }
        }
      }
      goals.seen = exhausted.length;
      return goals.credit;
    },

    remainingOf(index) {
      const { leases } = goalsOf(index);
      const nowMs = monotonicMs();
      return (ordinal) => {
        const lease = leases[ordinal];
        return lease ? credits.creditIn(lease, nowMs) : 0;
      };
    },

    exhaust(lineItemId) {
      if (exhausted.length >= maxExhausted) {
        exhausted = [];
        era++;
      }
      exhausted.push(lineItemId);
    },

    setUrgencies(next) {
      levels = next;
    },

    urgencyOf(index) {
      if (levels.size === 0) return undefined;
      const goals = goalsOf(index);
      if (goals.levels !== levels) {
        goals.levels = levels;
        goals.urgency = undefined;
        for (const [lineItemId, ordinal] of goals.ordinalOf) {
          const level = levels.get(lineItemId);
          if (level === undefined) continue;
          goals.urgency ??= createUrgency(index.lines.length);
          setUrgency(goals.urgency, ordinal, level);
        }
      }
      return goals.urgency;
    },
  };
}
