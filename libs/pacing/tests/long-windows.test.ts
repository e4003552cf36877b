import { expect, test } from '@jest/globals';
import { createLinePacer, paceLine, type LocalDays, type NumberedDay } from '../src/index.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 10, 26, 12);

/** Days of UTC; those that were made are counted. */
function countedDays(): LocalDays & { readonly made: () => number } {
  let made = 0;
  const dayOf = (number: number): NumberedDay => {
    made++;
    return { number, startMs: number * dayMs, endMs: (number + 1) * dayMs };
  };
  return {
    made: () => made,
    dayAt: (_zone, atMs) => dayOf(Math.floor(atMs / dayMs)),
    daysBetween: (_zone, fromMs, toMs) =>
      Array.from({ length: Math.ceil(toMs / dayMs) - Math.floor(fromMs / dayMs) }, (_, at) =>
        dayOf(Math.floor(fromMs / dayMs) + at),
      ),
  };
}

function tickOf(mode: 'even' | 'front_loaded', windowStartMs: number, windowEndMs: number) {
  const days = countedDays();
  const line: Parameters<typeof paceLine>[0] = {
    ...{ lineItemId: 'li_1', goal: 100_000, basis: 'reserved', windowStartMs, windowEndMs, mode, velocity: 1 },
    ...{ finishEarlyPct: 10, dailyMin: undefined, dailyMax: undefined, timeZone: 'UTC' },
  };
  const pacer = createLinePacer(line, { closedUsed: 0 }, days);
  const moment = pacer.tick({ atMs: nowMs, usedOpen: 0, budget: Infinity, ratePrior: undefined });
  return { moment, made: days.made() };
}

test.each(['even', 'front_loaded'] as const)(
  'a window of thousands of years costs no more than one of three years, mode %s',
  (mode) => expect(tickOf(mode, nowMs - dayMs, Date.UTC(9999, 11, 31)).made).toBeLessThan(1_200),
);

test.each(['even', 'front_loaded'] as const)(
  'a window that began before 1970 gives finite numbers, mode %s',
  (mode) => {
    const { moment } = tickOf(mode, Date.UTC(1960, 0, 1), nowMs + 30 * dayMs);
    const numbers = Object.values(moment).filter((value) => typeof value === 'number');
    expect(numbers.filter((value) => Number.isNaN(value))).toEqual([]);
    expect(Number.isFinite(moment.quota.units)).toBe(true);
  },
);
