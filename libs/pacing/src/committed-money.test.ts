import { expect, test } from '@jest/globals';
import { quarterMs } from './cohort.ts';
import { createLinePacer, type LocalDays, type PacedLine } from './index.ts';

const dayMs = 86_400_000;
const days: LocalDays = {
  dayAt: () => ({ number: 0, startMs: 0, endMs: 100 * dayMs }),
  daysBetween: () => [{ number: 0, startMs: 0, endMs: 100 * dayMs }],
};
const line = (unitPriceMicros: number, basis: PacedLine['basis']): PacedLine => ({
  ...{ lineItemId: 'li', goal: 10_000, basis, windowStartMs: 0, windowEndMs: 100 * dayMs, mode: 'asap', velocity: 1 },
  ...{ finishEarlyPct: 0, dailyMin: undefined, dailyMax: undefined, timeZone: 'UTC', unitPriceMicros },
});
const tickOf = (atMs: number, usedOpen: number) => ({ atMs, usedOpen, budget: Infinity, ratePrior: undefined });
const [cheap, dear] = [10_000_000, 30_000_000];

test('a unit costs the price at which it was given, also to the next pacer and after a price that came back', () => {
  const first = createLinePacer(line(cheap, 'reserved'), { closedUsed: 0 }, days);
  first.tick(tickOf(quarterMs, 100));
  first.replace(line(dear, 'reserved'));
  // What was given since the last tick was given at the dearer price, before or after the change.
  first.tick(tickOf(2 * quarterMs, 150));
  expect(first.committedMicros()).toBe(100 * 10_000 + 50 * 30_000);
  const second = createLinePacer(line(cheap, 'reserved'), { ...first.keep(), closedUsed: 0 }, days);
  expect(second.committedMicros()).toBe(first.committedMicros());
  second.tick(tickOf(3 * quarterMs, 160));
  expect(second.committedMicros()).toBe(100 * 10_000 + 60 * 30_000);
  second.tick(tickOf(4 * quarterMs, 260));
  expect(second.committedMicros()).toBe(200 * 10_000 + 60 * 30_000);
});

test('what returns is worth the price at which it was decided, and the cheaper one of a quarter hour that had both', () => {
  const pacer = createLinePacer(line(cheap, 'ad_delivered'), { closedUsed: 0 }, days);
  pacer.tick(tickOf(2.5 * quarterMs, 100));
  pacer.replace(line(dear, 'ad_delivered'));
  pacer.tick(tickOf(5 * quarterMs, 200));
  const cohort = (quarter: number, delivered: number) => ({
    ...{ lineItemId: 'li', surfaceClass: 'stream' as const, quarterMs: quarter * quarterMs, decided: 50 },
    ...{ served: delivered, delivered, held: 0, clientStarted: 0, clientCompleted: 0 },
  });
  pacer.putCohorts([cohort(1, 40), cohort(2, 45), cohort(3, 30), cohort(4, 30)]);
  pacer.settle(30 * dayMs, {});
  pacer.tick(tickOf(30 * dayMs, 200));
  expect(pacer.committed()).toBe(145);
  expect(pacer.committedMicros()).toBe(85 * 10_000 + 60 * 30_000);
});
