import { hasBit, nextBit } from './bitset.ts';
import { verdictCodes, type VerdictCode } from './codes.ts';
import type { BreakVerdicts, Decision } from './decide.ts';
import { decisionHash, seedOf } from './decision-hash.ts';
import type { PlanIndex } from './plan-index.ts';

/** How often a verdict was given to a line item. */
export interface VerdictCount {
  readonly lineItemId: string;
  readonly code: VerdictCode;
  readonly count: number;
}

/** Verdicts of decisions by line item and code, one for each break. */
export interface VerdictCounts {
  /**
   * Adds the verdicts of a decision under the index. Those that were looked at count exactly. Line items that could serve and were
   * not looked at (`no_lease` without credit, `outranked` where the break was full) are added of one decision in 16, 16 times: the
   * decision's id says which, so that counting a decision again gives the same numbers.
   */
  add(decisionId: string, decision: Pick<Decision, 'verdicts'>): void;
  /** The counts that are not 0, in the order of ordinals; they begin anew. */
  drain(): VerdictCount[];
}

/** One decision in so many is a sample of those that were not looked at. */
const sampleWeight = 16;
const sampleSalt = 0x2545f491;

const places: ReadonlyMap<VerdictCode, number> = new Map(verdictCodes.map((code, place) => [code, place]));

/** Counts verdicts under one index: a number of 32 bits for each line item and code, 1.7 MB for 10,000 line items. */
export function createVerdictCounts({ lines }: Pick<PlanIndex, 'lines'>): VerdictCounts {
  const width = verdictCodes.length;
  const counts = new Uint32Array(lines.length * width);
  const noLease = places.get('no_lease')!;

  function addUnseen({ considered, eligible, withoutCredit, rest }: BreakVerdicts): void {
    const restPlace = places.get(rest)!;
    for (let at = nextBit(eligible, 0, lines.length); at >= 0; at = nextBit(eligible, at + 1, lines.length)) {
      if (considered.has(at)) continue;
      const place = withoutCredit && hasBit(withoutCredit, at) ? noLease : restPlace;
      counts[at * width + place]! += sampleWeight;
    }
  }

  return {
    add: (decisionId, { verdicts }) => {
      for (const { considered } of verdicts)
        for (const [ordinal, code] of considered) counts[ordinal * width + places.get(code)!]!++;
      if (decisionHash(seedOf(decisionId), sampleSalt) % sampleWeight === 0) verdicts.forEach(addUnseen);
    },
    drain: () => {
      const found: VerdictCount[] = [];
      for (let cell = 0; cell < counts.length; cell++) {
        const count = counts[cell]!;
        if (count === 0) continue;
        const { lineItemId } = lines[Math.floor(cell / width)]!;
        found.push({ lineItemId, code: verdictCodes[cell % width]!, count });
      }
      counts.fill(0);
      return found;
    },
  };
}
