import { hasBit, seedOf, type BreakVerdicts, type PlanIndex } from '@longwave/ad-decision';
import type { GoalLine } from './plan-credit.ts';

/** What was asked of a line item at this node since its epoch began: slots that it could have taken, those that it took, and those refused for want of credit. */
export interface LineDemand {
  readonly asked: number;
  readonly used: number;
  readonly refused: number;
}

export interface LineDemands {
  /**
   * Adds what a decision asked of line items with goals, once a break: of those that were looked at exactly; of those that were not, for want of
   * credit, one decision in 16 counts 16 times.
   */
  addAsked(
    index: PlanIndex,
    goalLines: readonly GoalLine[],
    decisionId: string,
    verdicts: readonly BreakVerdicts[],
  ): void;
  addUsed(lineItemId: string, slots: number): void;
  /** Of line items that were asked for in the last minute; sums since the beginning of the epoch. */
  report(): Readonly<Record<string, LineDemand>>;
  /** Begins another epoch. */
  clear(): void;
}

/** One decision in so many is a sample of what was not looked at. */
const sampleWeight = 16;
/** What a report leaves out has not changed for many reports. */
const reportedMs = 60_000;

interface Sums {
  asked: number;
  used: number;
  refused: number;
  atMs: number;
}

/** The demand for line items with goals at this node, by which the pacer shares their units among nodes. */
export function createLineDemands(monotonicMs: () => number): LineDemands {
  const sums = new Map<string, Sums>();

  function sumsOf(lineItemId: string): Sums {
    const known = sums.get(lineItemId);
    if (known) return known;
    const made = { asked: 0, used: 0, refused: 0, atMs: monotonicMs() };
    sums.set(lineItemId, made);
    return made;
  }

  function ask(lineItemId: string, asked: number, refused: number, atMs: number): void {
    const line = sumsOf(lineItemId);
    line.asked += asked;
    line.refused += refused;
    line.atMs = atMs;
  }

  return {
    addAsked(index, goalLines, decisionId, verdicts) {
      const nowMs = monotonicMs();
      for (const { considered } of verdicts)
        for (const [ordinal, code] of considered)
          if (hasBit(index.goals, ordinal))
            ask(index.lines[ordinal]!.lineItemId, 1, code === 'no_lease' ? 1 : 0, nowMs);
      if (seedOf(decisionId) % sampleWeight !== 0) return;
      for (const { considered, withoutCredit } of verdicts) {
        if (!withoutCredit) continue;
        for (const { ordinal, lineItemId } of goalLines)
          if (hasBit(withoutCredit, ordinal) && !considered.has(ordinal))
            ask(lineItemId, sampleWeight, sampleWeight, nowMs);
      }
    },

    addUsed(lineItemId, slots) {
      sumsOf(lineItemId).used += slots;
    },

    clear: () => sums.clear(),

    report() {
      const sinceMs = monotonicMs() - reportedMs;
      return Object.fromEntries(
        [...sums]
          .filter(([, { atMs }]) => atMs >= sinceMs)
          .map(([lineItemId, { asked, used, refused }]) => [lineItemId, { asked, used, refused }]),
      );
    },
  };
}
