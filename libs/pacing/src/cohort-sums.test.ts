import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quarterMs, type Cohort, type GoalBasis } from './cohort.ts';
import { createCohortBook } from './cohort-sums.ts';
import { committedUnits, deliveryRate } from './committed.ts';
import { curveAgesMs, measureCurve, owedShare, type ReturnCurve } from './return-curve.ts';

const hourMs = 3_600_000;

const cohorts = fc.array(
  fc
    .record({
      surfaceClass: fc.constantFrom('stream' as const, 'download' as const),
      quarter: fc.integer({ min: 0, max: 1_000 }),
      decided: fc.integer({ min: 0, max: 500 }),
      shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 }),
    })
    .map(({ surfaceClass, quarter, decided, shares }): Cohort => {
      const part = (at: number) => Math.floor(shares[at]! * decided);
      return {
        ...{ lineItemId: 'li', surfaceClass, quarterMs: quarter * quarterMs, decided },
        ...{ served: part(0), delivered: part(1), held: part(2), clientStarted: part(3), clientCompleted: part(4) },
      };
    }),
  { maxLength: 40 },
);

const curve = (length: number) =>
  fc
    .array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: length, maxLength: length })
    .map((shares): ReturnCurve => shares.sort((a, b) => b - a));
const curves = fc.record({
  stream: fc.option(curve(curveAgesMs.stream.length - 1), { nil: undefined }),
  download: fc.option(curve(curveAgesMs.download.length - 1), { nil: undefined }),
});
const bases = fc.constantFrom<GoalBasis>('reserved', 'served_bytes', 'ad_delivered', 'client_event', 'completes');

function bookOf(basis: GoalBasis, given: readonly Cohort[]) {
  const book = createCohortBook(basis);
  for (const cohort of given) book.put(cohort);
  return book;
}

test('a watermark that is delayed, or missing, never lowers what is committed', () => {
  const watermark = fc.option(fc.integer({ min: 0, max: 2_000 * quarterMs }), { nil: undefined });
  fc.assert(
    fc.property(bases, cohorts, curves, watermark, watermark, (basis, given, measured, one, other) => {
      const [early, late] = (one ?? -1) <= (other ?? -1) ? [one, other] : [other, one];
      const book = bookOf(basis, given);
      const used = given.reduce((sum, cohort) => sum + cohort.decided, 7);
      expect(committedUnits(used, book.sums(early, measured))).toBeGreaterThanOrEqual(
        committedUnits(used, book.sums(late, measured)) - 1e-9,
      );
    }),
  );
});

test('what is committed lies between the confirmed servings and all that were given, and is all of them without a watermark', () => {
  fc.assert(
    fc.property(cohorts, curves, fc.integer({ min: 0, max: 2_000 * quarterMs }), (given, measured, watermark) => {
      const last = new Map(given.map((one) => [`${one.surfaceClass}${one.quarterMs}`, one]));
      const decided = [...last.values()].reduce((sum, one) => sum + one.decided, 0);
      const confirmed = [...last.values()].reduce(
        (sum, one) => sum + Math.min(one.decided, one.delivered + one.held),
        0,
      );
      const book = bookOf('ad_delivered', given);
      const sums = book.sums(watermark, measured);
      const committed = committedUnits(decided + 3, sums);
      expect(sums.decided).toBe(decided);
      expect(committed).toBeGreaterThanOrEqual(confirmed + 3 - 1e-6);
      expect(committed).toBeLessThanOrEqual(decided + 3);
      expect(committedUnits(decided + 3, book.sums(undefined, measured))).toBe(decided + 3);
      expect(committedUnits(decided, bookOf('reserved', given).sums(watermark, measured))).toBe(decided);
    }),
  );
});

test('a cohort that comes twice, or in another order, changes nothing', () => {
  fc.assert(
    fc.property(cohorts, fc.integer({ min: 0, max: 2_000 * quarterMs }), (given, watermark) => {
      const last = [...new Map(given.map((one) => [`${one.surfaceClass}${one.quarterMs}`, one])).values()];
      const expected = bookOf('ad_delivered', last).sums(watermark, {});
      expect(bookOf('ad_delivered', [...given, ...last.toReversed()]).sums(watermark, {})).toEqual(expected);
    }),
  );
});

test('without a curve nothing is returned before the horizon, and everything unconfirmed from it on', () => {
  expect([0, 2, 23.9, 24].map((hours) => owedShare('stream', undefined, hours * hourMs))).toEqual([1, 1, 1, 0]);
  expect([24, 167.9, 168].map((hours) => owedShare('download', undefined, hours * hourMs))).toEqual([1, 1, 0]);
});

test('a measured curve owes 1.25 times the upper bound of what came later, from two hours on, and never less than the network', () => {
  const aged = curveAgesMs.stream
    .slice(0, -1)
    .map((_, at) => ({ decided: 10_000, confirmed: 7_600 + 80 * at, confirmedAtHorizon: 8_200 }));
  const measured = measureCurve(aged)!;
  expect(measured[0]).toBeCloseTo(0.082, 3);
  expect(owedShare('stream', measured, 1.9 * hourMs)).toBe(1);
  expect(owedShare('stream', measured, 2.9 * hourMs)).toBe(measured[0]);
  expect(measured.toSorted((a, b) => b - a)).toEqual(measured);
  const network = measured.map((share) => share + 0.05);
  expect(measureCurve(aged, network)).toEqual(network);
  expect(measureCurve(aged.map((one) => ({ ...one, decided: 999 })))).toBeUndefined();
});

test('the delivery rate is that of servings older than a day, held by the prior while they are few', () => {
  const prior = { share: 0.9, servings: 100 };
  expect(deliveryRate({ settledDecided: 0, settledConfirmed: 0 }, prior)).toBe(0.9);
  expect(deliveryRate({ settledDecided: 100_000, settledConfirmed: 82_000 }, prior)).toBeCloseTo(0.82, 3);
  expect(deliveryRate({ settledDecided: 100_000, settledConfirmed: 0 }, prior)).toBe(0.1);
});
