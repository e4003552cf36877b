import { hasBit, nextBit, seedOf, type BreakVerdicts, type PlanIndex } from '@longwave/ad-decision';

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
  addAsked(index: PlanIndex, decisionId: string, verdicts: readonly BreakVerdicts[]): void;
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
  let sums = new Map<string, Sums>();
  /** The same by the ordinals of an index. */
  let byIndex = new WeakMap<PlanIndex, (Sums | undefined)[]>();

  function sumsOf(lineItemId: string): Sums {
    const known = sums.get(lineItemId);
    if (known) return known;
    const made = { asked: 0, used: 0, refused: 0, atMs: monotonicMs() };
    sums.set(lineItemId, made);
    return made;
  }

  function indexed(index: PlanIndex): (Sums | undefined)[] {
    const known = byIndex.get(index);
    if (known) return known;
    const made = new Array<Sums | undefined>(index.lines.length).fill(undefined);
    byIndex.set(index, made);
    return made;
  }

  return {
    addAsked(index, decisionId, verdicts) {
      const { goals, lines } = index;
      const nowMs = monotonicMs();
      const lineSums = indexed(index);
      const ask = (ordinal: number, asked: number, refused: number) => {
        const line = (lineSums[ordinal] ??= sumsOf(lines[ordinal]!.lineItemId));
        line.asked += asked;
        line.refused += refused;
        line.atMs = nowMs;
      };
      for (const { considered } of verdicts)
        for (const [ordinal, code] of considered)
          if (hasBit(goals, ordinal)) ask(ordinal, 1, code === 'no_lease' ? 1 : 0);
      if (seedOf(decisionId) % sampleWeight !== 0) return;
      for (const { considered, withoutCredit } of verdicts) {
        if (!withoutCredit) continue;
        const end = lines.length;
        for (let at = nextBit(withoutCredit, 0, end); at >= 0; at = nextBit(withoutCredit, at + 1, end))
          if (hasBit(goals, at) && !considered.has(at)) ask(at, sampleWeight, sampleWeight);
      }
    },

    addUsed(lineItemId, slots) {
      sumsOf(lineItemId).used += slots;
    },

    clear() {
      sums = new Map();
      byIndex = new WeakMap();
    },

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
