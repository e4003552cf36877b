import { expect, test } from '@jest/globals';
import { noCohorts, type CohortSums } from './cohort-sums.ts';
import { waitingUnits } from './committed.ts';
import { paceLine, type PacedLine } from './pace-line.ts';

const hourMs = 3_600_000;
const windowEndMs = 100 * hourMs;

const line: PacedLine = {
  ...{ lineItemId: 'li_1', goal: 10_000, basis: 'ad_delivered', windowStartMs: 0, windowEndMs },
  ...{ mode: 'even', velocity: 1, finishEarlyPct: 0, dailyMin: undefined, dailyMax: undefined, timeZone: 'UTC' },
};

/** In the middle of its window, with its plan kept: so many of those that were given are older than a day, and four of five were heard. */
const middle = (used: number, settledDecided: number, returned: number, basis: PacedLine['basis'] = line.basis) =>
  paceLine(
    { ...line, basis },
    {
      ...{ atMs: 50 * hourMs, used, usedOpen: used, budget: Infinity, target: 5_000, isLearning: false },
      sums: { ...noCohorts, decided: used, returned, settledDecided, settledConfirmed: 0.8 * settledDecided },
      ratePrior: { share: 0.8, servings: 100 },
      day: { usedAtStart: 0, endMs: windowEndMs },
      shape: { shareUntil: (atMs) => atMs / windowEndMs, dayShareUntil: (atMs) => atMs / windowEndMs },
    },
  );

test('servings that wait to come back hold the bound, and not the pace', () => {
  // 6,250 slots have four fifths heard: the plan. Of 2,000 of the last day nothing is returned yet.
  const { committed, maxGranted, quota, urgency } = middle(6_250, 4_250, 850);
  expect(committed).toBe(5_400);
  expect(maxGranted).toBe(6_250 + 4_600);
  expect(urgency).toBe(0);
  expect(quota.units).toBeCloseTo(6_250 / 200);
  // One that followed its plan with what is committed would give that up to the last day, when everybody else does.
  const behind = middle(5_850, 4_250, 850);
  expect(behind.committed).toBe(5_000);
  expect(behind.urgency).toBe(2);
  expect(behind.quota.units).toBeGreaterThan(400);
});

test('what is likely to come back is that of the last day at most, and none where decisions count', () => {
  const sums = (given: Partial<CohortSums>): CohortSums => ({ ...noCohorts, decided: 6_000, ...given });
  // Nothing returns before there is a curve.
  expect(waitingUnits(6_000, sums({ settledDecided: 5_000 }), 0.8)).toBeCloseTo(200);
  // What is returned already does not wait.
  expect(waitingUnits(6_000, sums({ settledDecided: 5_000, returned: 1_150 }), 0.8)).toBeCloseTo(50);
  expect(waitingUnits(6_000, sums({ settledDecided: 5_000, returned: 1_300 }), 0.8)).toBe(0);
  expect(waitingUnits(6_000, sums({}), 1)).toBe(0);
  expect(middle(5_000, 0, 0, 'reserved')).toMatchObject({ committed: 5_000, urgency: 0, maxGranted: 10_000 });
});
