import { addBit, countBits, hasBit, intersect, type Bits } from './bitset.ts';
import type { VerdictCode } from './codes.ts';
import type { AdBreak, DecisionContext } from './decision-context.ts';
import type { PlanIndex, Postings, ValueBits } from './plan-index.ts';

/** One test of the eligibility stage, in the order in which it drops lines. */
interface EligibilityTest {
  readonly code: VerdictCode;
  /** Removes from `bits` what fails. */
  readonly narrow: (bits: Bits) => void;
  readonly passes: (ordinal: number) => boolean;
}

export interface Eligibility {
  readonly bits: Bits;
  readonly count: number;
  /** Lines dropped per code; a line counts under the first test that it fails. */
  readonly droppedBy: ReadonlyMap<VerdictCode, number>;
  /** Every test a line fails, in order; empty for an eligible one. */
  readonly failures: (ordinal: number) => readonly VerdictCode[];
}

function bitsTest(code: VerdictCode, allowed: Bits): EligibilityTest {
  return { code, narrow: (bits) => intersect(bits, allowed), passes: (ordinal) => hasBit(allowed, ordinal) };
}

function valueTest(code: VerdictCode, dimension: ValueBits, value: string): EligibilityTest {
  return bitsTest(code, dimension.byValue.get(value) ?? dimension.others);
}

function postingsTest(code: VerdictCode, { unconstrained, byValue }: Postings, value: string): EligibilityTest {
  const included = byValue.get(value) ?? [];
  return {
    code,
    narrow: (bits) => {
      const kept = included.filter((ordinal) => hasBit(bits, ordinal));
      intersect(bits, unconstrained);
      for (const ordinal of kept) addBit(bits, ordinal);
    },
    passes: (ordinal) => hasBit(unconstrained, ordinal) || included.includes(ordinal),
  };
}

/** Which lines may serve in one break, before anything about their neighbours is asked. */
export function findEligible(index: PlanIndex, context: DecisionContext, adBreak: AdBreak): Eligibility {
  const active = index.activeAt(context.atMs);
  const tests = [
    valueTest('targeting_position', index.positions, adBreak.position),
    postingsTest('targeting_podcast', index.podcasts, context.podcastId),
    postingsTest('targeting_episode', index.episodes, context.episodeId),
    valueTest('targeting_country', index.countries, context.country),
    valueTest('no_rendition', index.streamFormats, context.streamFormat),
  ];
  const bits = active.slice();
  let count = countBits(bits);
  const droppedBy = new Map<VerdictCode, number>();
  if (count < index.lines.length) droppedBy.set('not_active', index.lines.length - count);
  for (const test of tests) {
    test.narrow(bits);
    const left = countBits(bits);
    if (left < count) droppedBy.set(test.code, count - left);
    count = left;
  }
  const all = [bitsTest('not_active', active), ...tests];
  const failures = (ordinal: number) => all.filter((test) => !test.passes(ordinal)).map((test) => test.code);
  return { bits, count, droppedBy, failures };
}
