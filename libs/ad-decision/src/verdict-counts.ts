import { hasBit, nextBit } from './bitset.ts';
import { verdictCodes, type VerdictCode } from './codes.ts';
import type { BreakVerdicts, Decision } from './decide.ts';
import { decisionHash, seedOf } from './decision-hash.ts';
import type { PlanIndex } from './plan-index.ts';

/** How often a verdict was given to a line item. */
interface VerdictCount {
  readonly lineItemId: string;
  readonly code: VerdictCode;
  /** Breaks in which it was looked at: exact. */
  readonly considered: number;
  /** Breaks in which it could have served and was not looked at: an estimate from one decision in 16. */
  readonly notLookedAt: number;
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
/** Verdicts of those that are not looked at. */
const unseenCodes: readonly VerdictCode[] = ['no_lease', 'outranked', 'policy_ad_load'];
/** By the place of the code; -1 for all others. */
const unseenPlaceOf = verdictCodes.map((code) => unseenCodes.indexOf(code));

/** Counts verdicts under one index: a number of 32 bits for each line item and code, 1.7 MB for 10,000 line items. */
export function createVerdictCounts({ lines }: Pick<PlanIndex, 'lines'>): VerdictCounts {
  const [width, unseenWidth] = [verdictCodes.length, unseenCodes.length];
  const counts = new Uint32Array(lines.length * width);
  const unseen = new Uint32Array(lines.length * unseenWidth);
  const noLease = unseenCodes.indexOf('no_lease');

  function addUnseen({ considered, eligible, withoutCredit, rest }: BreakVerdicts): void {
    const restPlace = unseenCodes.indexOf(rest);
    for (let at = nextBit(eligible, 0, lines.length); at >= 0; at = nextBit(eligible, at + 1, lines.length)) {
      if (considered.has(at)) continue;
      const place = withoutCredit && hasBit(withoutCredit, at) ? noLease : restPlace;
      unseen[at * unseenWidth + place]! += sampleWeight;
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
      for (const [ordinal, { lineItemId }] of lines.entries())
        for (let place = 0; place < width; place++) {
          const unseenPlace = unseenPlaceOf[place]!;
          const considered = counts[ordinal * width + place]!;
          const notLookedAt = unseenPlace < 0 ? 0 : unseen[ordinal * unseenWidth + unseenPlace]!;
          if (considered + notLookedAt > 0)
            found.push({ lineItemId, code: verdictCodes[place]!, considered, notLookedAt });
        }
      counts.fill(0);
      unseen.fill(0);
      return found;
    },
  };
}
