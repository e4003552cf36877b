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

/** A line item with a goal in one index. */
export interface GoalLine {
  readonly ordinal: number;
  readonly lineItemId: string;
}

export interface PlanCredit extends Pick<GoalCredit, 'creditOf' | 'urgencyOf'> {
  /** The line item has nothing left: decisions need not look at it. */
  exhaust(lineItemId: string): void;
  /** Levels that are not 0, of line items of any plan; the others have 0. */
  setUrgencies(levels: ReadonlyMap<string, UrgencyLevel>): void;
  goalLinesOf(index: PlanIndex): readonly GoalLine[];
}

/** Buckets fill by themselves: credit that comes so is seen as late as this. */
const renewEveryMs = 50;

interface IndexedGoals {
  readonly lines: readonly GoalLine[];
  readonly ordinals: ReadonlyMap<string, number>;
  readonly credit: Bits;
  madeAtMs: number;
  /** How many exhausted line items it knows of. */
  seen: number;
  urgency: Urgency | undefined;
  /** The levels that `urgency` was made of. */
  levels: ReadonlyMap<string, UrgencyLevel> | undefined;
}

/**
 * The credit of this node's leases as sets of ordinals, so that a decision does not walk over line items that have none.
 * @param creditOf units that a line item may be given now
 */
export function createPlanCredit(creditOf: (lineItemId: string) => number, monotonicMs: () => number): PlanCredit {
  const byIndex = new WeakMap<PlanIndex, IndexedGoals>();
  /** Line items that were spent out since the oldest set that may still be used was made, and how many were dropped before them. */
  let exhausted: { readonly lineItemId: string; readonly atMs: number }[] = [];
  let droppedCount = 0;
  let levels: ReadonlyMap<string, UrgencyLevel> = new Map();

  function goalsOf(index: PlanIndex): IndexedGoals {
    const known = byIndex.get(index);
    if (known) return known;
    const lines = index.lines.flatMap(({ lineItemId }, ordinal) =>
      hasBit(index.goals, ordinal) ? [{ ordinal, lineItemId }] : [],
    );
    const made: IndexedGoals = {
      lines,
      ordinals: new Map(lines.map(({ ordinal, lineItemId }) => [lineItemId, ordinal])),
      credit: createBits(index.lines.length),
      ...{ madeAtMs: -Infinity, seen: 0, urgency: undefined, levels: undefined },
    };
    byIndex.set(index, made);
    return made;
  }

  return {
    goalLinesOf: (index) => goalsOf(index).lines,

    creditOf(index) {
      const goals = goalsOf(index);
      const nowMs = monotonicMs();
      if (nowMs - goals.madeAtMs >= renewEveryMs) {
        goals.madeAtMs = nowMs;
        goals.credit.fill(0);
        for (const { ordinal, lineItemId } of goals.lines) if (creditOf(lineItemId) > 0) addBit(goals.credit, ordinal);
      } else
        for (const { lineItemId } of exhausted.slice(Math.max(0, goals.seen - droppedCount))) {
          const ordinal = goals.ordinals.get(lineItemId);
          if (ordinal !== undefined) removeBit(goals.credit, ordinal);
        }
      goals.seen = droppedCount + exhausted.length;
      return goals.credit;
    },

    exhaust(lineItemId) {
      const atMs = monotonicMs();
      const first = exhausted.findIndex((one) => one.atMs > atMs - renewEveryMs);
      const dropped = first < 0 ? exhausted.length : first;
      if (dropped > 0) exhausted = exhausted.slice(dropped);
      droppedCount += dropped;
      exhausted.push({ lineItemId, atMs });
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
        for (const { ordinal, lineItemId } of goals.lines) {
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
