import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLinePacer, type HourPlan, type LocalDays } from './line-pacer.ts';
import type { PacedLine } from './pace-line.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const start = Date.UTC(2026, 2, 26);

const dayOf = (number: number) => ({ number, startMs: number * dayMs, endMs: (number + 1) * dayMs });
const utcDays: LocalDays = {
  dayAt: (_zone, atMs) => dayOf(Math.floor(atMs / dayMs)),
  daysBetween: (_zone, fromMs, toMs) => {
    const first = Math.floor(fromMs / dayMs);
    return Array.from({ length: Math.ceil(toMs / dayMs) - first }, (_, at) => dayOf(first + at));
  },
};

const line: PacedLine = {
  ...{ lineItemId: 'li_1', goal: 10_000, basis: 'reserved', windowStartMs: start, windowEndMs: start + 4 * dayMs },
  ...{ mode: 'even', velocity: 1, finishEarlyPct: 0, dailyMin: undefined, dailyMax: undefined, timeZone: 'UTC' },
};

const planOf = (digest: string, hours: readonly number[]): HourPlan => ({
  ...{ digest, startsAtMs: start, hours, isLearning: false },
});

/** A pacer that was ticked by the minute until a time, with so many slots given in each. */
function pacedUntil(mode: PacedLine['mode'], plan: HourPlan, minutes: number, usedPerMinute: number) {
  const pacer = createLinePacer({ ...line, mode }, { closedUsed: 0 }, utcDays);
  pacer.setPlan(plan);
  const tick = (minute: number, used: number) =>
    pacer.tick({ atMs: start + minute * 60_000, usedOpen: used, budget: Infinity, ratePrior: undefined });
  let used = 0;
  for (let minute = 0; minute <= minutes; minute += 5) {
    used = Math.min(line.goal, minute * usedPerMinute);
    tick(minute, used);
  }
  return { pacer, used, tick };
}

test('another plan at any moment changes nothing of what is committed, may be granted or is to be committed; the target goes on from there and never falls', () => {
  const hours = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 100 });
  fc.assert(
    fc.property(
      fc.constantFrom('even' as const, 'front_loaded' as const, 'asap' as const),
      ...([hours, hours] as const),
      fc.integer({ min: 0, max: 4 * 288 - 30 }),
      fc.integer({ min: 0, max: 4 }),
      (mode, first, second, fives, usedPerMinute) => {
        const { pacer, used, tick } = pacedUntil(mode, planOf('a', first), 5 * fives, usedPerMinute);
        const before = pacer.moment()!;
        pacer.setPlan(planOf('b', second));
        const after = tick(5 * fives, used);
        expect(pacer.planDigest()).toBe('b');
        expect([after.committed, after.maxGranted]).toEqual([before.committed, before.maxGranted]);
        expect(after.target).toBeCloseTo(before.target, 6);
        expect(after.quota.units).toBeLessThanOrEqual(line.goal - after.committed);
        let target = after.target;
        for (let minute = 5 * fives + 5; minute <= 5 * fives + 60; minute += 5) {
          const later = tick(minute, used);
          expect(later.target).toBeGreaterThanOrEqual(target - 1e-6);
          expect(later.target).toBeLessThanOrEqual(line.goal);
          target = later.target;
        }
      },
    ),
    { numRuns: 60 },
  );
});
