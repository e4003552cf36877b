import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildIndex, type IndexedLine, type UrgencyLevel } from '../src/index.ts';
import { assignSlots, searchBreak } from '../src/search-break.ts';
import type { Candidate } from '../src/screen-candidate.ts';
import { planOf } from './_support.ts';

const rank = fc.oneof(
  fc.constant({ type: 'sponsorship' as const }),
  fc.record({ type: fc.constant('guaranteed' as const), priority: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ type: fc.constant('non_guaranteed' as const), cpm_micros: fc.constantFrom(1_000, 2_000, 3_000) }),
  fc.constant({ type: 'house' as const }),
);

interface Ad {
  readonly rank: { readonly type: 'sponsorship' | 'guaranteed' | 'non_guaranteed' | 'house' };
  readonly durationMs: number;
  readonly slots: number;
  /** Of guaranteed ads. */
  readonly urgency: UrgencyLevel;
}

const slotCount = 3;
const limitMs = 60;
const ads: fc.Arbitrary<Ad[]> = fc.array(
  fc.record({
    rank,
    durationMs: fc.integer({ min: 1, max: limitMs }),
    slots: fc.oneof(fc.constant(0b111), fc.integer({ min: 1, max: 0b111 })),
    urgency: fc.constantFrom<UrgencyLevel>(0, 0, 1, 2, 3),
  }),
  { maxLength: 7 },
);
/** Pairs of candidates that exclude each other. */
const pairs = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 6 })), { maxLength: 5 });

/** Candidates in rank order, as the walk yields them. */
function candidatesOf(given: readonly Ad[]): Candidate[] {
  const { lines } = buildIndex(planOf(given.map((ad, at) => ({ line_item_id: `li_${at}`, ...ad.rank }))));
  const candidates = lines.map((line: IndexedLine, ordinal) => {
    const { durationMs, slots, urgency } = given[Number(line.lineItemId.slice(3))]!;
    const creative = [...line.creativesByRenditions.values()][0]![0]!;
    return {
      ordinal,
      line,
      creatives: [{ creative, stream: { ...creative.streams[0]!, durationMs }, slots }],
      repeats: false,
      urgency: line.tier === 2 ? urgency : (0 as const),
    };
  });
  return candidates.sort(
    (a, b) =>
      a.line.tier - b.line.tier ||
      (a.line.tier === 2 ? a.line.priority - b.line.priority || b.urgency - a.urgency : a.ordinal - b.ordinal),
  );
}

/** Whether each of the ads can have a slot of its own, by trying every order. */
function canStand(slots: readonly number[], taken = 0): boolean {
  const [first, ...rest] = slots;
  if (first === undefined) return true;
  return [0, 1, 2].some((slot) => (first & ~taken & (1 << slot)) !== 0 && canStand(rest, taken | (1 << slot)));
}

/** The worth of a set, most important first; a list that is greater at the first difference is better. */
function worthOf(candidates: readonly Candidate[], set: readonly number[]): number[] {
  const of = (holds: (line: IndexedLine) => boolean) => set.filter((at) => holds(candidates[at]!.line));
  const priorities = [1, 2, 3].map((priority) => of((line) => line.tier === 2 && line.priority === priority).length);
  const urgent = [3, 2, 1].map((level) => set.filter((at) => candidates[at]!.urgency === level).length);
  const priced = of((line) => line.tier === 3);
  const leaders = [1, 2, 3, 4].map((tier) => -(of((line) => line.tier === tier)[0] ?? 24));
  return [
    of((line) => line.tier === 1).length,
    ...priorities,
    ...urgent,
    priced.reduce((sum, at) => sum + candidates[at]!.line.cpmMicros + 1, 0),
    of((line) => line.tier === 4).length,
    ...leaders,
    set.reduce((sum, at) => sum + candidates[at]!.creatives[0]!.stream.durationMs, 0),
  ];
}

const compare = (a: readonly number[], b: readonly number[]) => {
  const at = a.findIndex((value, place) => value !== b[place]);
  return at < 0 ? 0 : a[at]! - b[at]!;
};

test('no set of candidates that fit together is worth more than the one that is found', () => {
  fc.assert(
    fc.property(ads, pairs, (given, apart) => {
      const candidates = candidatesOf(given);
      const separated = candidates.map((_, at) =>
        apart.reduce(
          (mask, [a, b]) => (a === at && b !== at ? mask | (1 << b) : b === at && a !== at ? mask | (1 << a) : mask),
          0,
        ),
      );
      const found = searchBreak(candidates, separated, { slotCount, maxAds: slotCount, limitMs }).map((one) =>
        candidates.indexOf(one.candidate),
      );
      let best: number[] = worthOf(candidates, []);
      const mayStand = (set: readonly number[]) =>
        set.length <= slotCount &&
        set.reduce((sum, at) => sum + candidates[at]!.creatives[0]!.stream.durationMs, 0) <= limitMs &&
        set.every((at) => set.every((other) => (separated[at]! & (1 << other)) === 0)) &&
        canStand(set.map((at) => candidates[at]!.creatives[0]!.slots));
      for (let members = 0; members < 1 << candidates.length; members++) {
        const set = candidates.flatMap((_, at) => ((members & (1 << at)) !== 0 ? [at] : []));
        if (mayStand(set) && compare(worthOf(candidates, set), best) > 0) best = worthOf(candidates, set);
      }
      expect(mayStand(found)).toBe(true);
      expect(worthOf(candidates, found)).toEqual(best);
    }),
    { numRuns: 300 },
  );
});

test('slots are assigned exactly when there is one for each ad; an earlier ad has the earliest slot that leaves one for the others', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 0b111 }), { maxLength: 4 }), (slots) => {
      const given = assignSlots(slots);
      expect(given !== undefined).toBe(canStand(slots));
      if (!given) return;
      expect(new Set(given).size).toBe(slots.length);
      given.forEach((slot, at) => expect(slots[at]! & (1 << slot)).not.toBe(0));
      given.forEach((slot, at) => {
        const before = given.slice(0, at).reduce((mask, one) => mask | (1 << one), 0);
        for (let earlier = 0; earlier < slot; earlier++)
          if ((slots[at]! & (1 << earlier) & ~before) !== 0)
            expect(canStand(slots.slice(at + 1), before | (1 << earlier))).toBe(false);
      });
    }),
  );
});
