import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fillDays } from './day-quotas.ts';
import { shapePace, type ShapeInput } from './pace-shape.ts';
import { networkTraffic, opportunitiesBetween, plannedTraffic } from './traffic-curve.ts';

const hourMs = 3_600_000;
const start = Date.UTC(2026, 2, 26);

/** Days of these lengths in hours, the first from `start` on. */
function daysOf(hours: readonly number[]) {
  let at = start;
  return hours.map((length) => ({ startMs: at, endMs: (at += length * hourMs) }));
}

function input(given: Partial<ShapeInput> = {}): ShapeInput {
  const days = given.days ?? daysOf([24, 24, 24, 24, 24]);
  return {
    ...{
      mode: 'even',
      finishEarlyPct: 0,
      windowStartMs: start,
      windowEndMs: days.at(-1)!.endMs,
      fromMs: start,
      units: 1_000,
    },
    ...{
      traffic: plannedTraffic(start, Array(24 * 7).fill(100)),
      days,
      dailyMin: undefined,
      dailyMax: undefined,
      usedToday: 0,
    },
    ...given,
  };
}

/** What a plan gives on each day, made again at the beginning of each. */
function givenByDay(whole: ShapeInput): number[] {
  let left = whole.units;
  return whole.days.map((day, at) => {
    const shape = shapePace({ ...whole, fromMs: day.startMs, units: left, days: whole.days.slice(at), usedToday: 0 });
    let given = 0;
    for (let now = day.startMs; now < day.endMs; now += 2 * hourMs) {
      const rest = shapePace({ ...whole, fromMs: now, units: left, days: whole.days.slice(at), usedToday: given });
      const part = left * rest.shareUntil(Math.min(day.endMs, now + 2 * hourMs));
      given += part;
      left -= part;
    }
    expect(shape.shareUntil(day.startMs)).toBe(0);
    return given;
  });
}

test('water-filling sums to the total, or to the most that the days may get, within the bounds of each', () => {
  const bound = fc.record({
    weight: fc.double({ min: 0.01, max: 1, noNaN: true }),
    min: fc.integer({ min: 0, max: 200 }),
    max: fc.integer({ min: 0, max: 2_000 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20_000 }),
      fc.array(bound, { minLength: 1, maxLength: 60 }),
      (total, days) => {
        const quotas = fillDays(total, days);
        const most = days.reduce((sum, { max }) => sum + max, 0);
        const least = days.reduce((sum, { min, max }) => sum + Math.min(min, max), 0);
        expect(quotas.reduce((sum, quota) => sum + quota, 0)).toBeCloseTo(Math.min(total, most), 3);
        quotas.forEach((quota, at) => {
          expect(quota).toBeLessThanOrEqual(days[at]!.max + 1e-6);
          if (least <= total) expect(quota).toBeGreaterThanOrEqual(Math.min(days[at]!.min, days[at]!.max) - 1e-6);
        });
      },
    ),
  );
});

test('the plan never falls and ends at everything, whatever the traffic, mode and bounds', () => {
  const hours = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 130 });
  const mode = fc.constantFrom('even' as const, 'front_loaded' as const);
  const bounds = fc.record({
    dailyMin: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
    dailyMax: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
    finishEarlyPct: fc.integer({ min: 0, max: 20 }),
    fromMs: fc.integer({ min: start, max: start + 23 * hourMs }),
  });
  fc.assert(
    fc.property(hours, mode, bounds, (traffic, one, given) => {
      const shape = shapePace(input({ ...given, mode: one, traffic: plannedTraffic(start, traffic) }));
      let before = 0;
      for (let minutes = 0; minutes <= 180; minutes += 7) {
        const share = shape.shareUntil(given.fromMs + minutes * 60_000);
        expect(share).toBeGreaterThanOrEqual(before - 1e-9);
        expect(share).toBeLessThanOrEqual(1);
        before = share;
      }
      expect(shape.shareUntil(start + 120 * hourMs)).toBe(1);
    }),
  );
});

test('even gives each day the same, also a day of 23 or 25 hours, and less where traffic does not allow it', () => {
  const days = daysOf([24, 23, 25, 24, 24]);
  for (const given of givenByDay(input({ days }))) expect(given).toBeCloseTo(200, -1);
  const traffic = plannedTraffic(start, [...Array(24).fill(5), ...Array(96).fill(100)]);
  const [first, ...others] = givenByDay(input({ traffic }));
  expect(first).toBeCloseTo(0.9 * 120, 0);
  for (const given of others) expect(given).toBeCloseTo((1_000 - 108) / 4, -1);
});

test('front_loaded gives more than half in the first half, and daily bounds hold in every mode', () => {
  const [one, two, three, four, five] = givenByDay(input({ mode: 'front_loaded' }));
  expect(one).toBeCloseTo(280, -1);
  expect([one, two, three, four, five]).toEqual([one, two, three, four, five].toSorted((a, b) => b! - a!));
  for (const mode of ['even', 'front_loaded'] as const)
    for (const given of givenByDay(input({ mode, dailyMax: 210, dailyMin: 190 }))) {
      expect(given).toBeLessThanOrEqual(210.001);
      expect(given).toBeGreaterThanOrEqual(189.999);
    }
});

test('a day gets its quota in proportion to its traffic', () => {
  const traffic = plannedTraffic(start, [...Array(6).fill(10), ...Array(6).fill(30), ...Array(120).fill(20)]);
  const shape = shapePace(input({ traffic, fromMs: start + 5 * hourMs, units: 1_000 }));
  const hour = (at: number) => shape.shareUntil(start + (at + 1) * hourMs) - shape.shareUntil(start + at * hourMs);
  expect(hour(6) / hour(5)).toBeCloseTo(3, 6);
});

test('finish_early_pct leaves the last part of the traffic free; asap has no plan', () => {
  const last = input({ finishEarlyPct: 10, fromMs: start + 106 * hourMs, days: daysOf([24, 24, 24, 24, 24]).slice(4) });
  expect(shapePace(last).shareUntil(start + 107 * hourMs)).toBeCloseTo(0.5, 6);
  expect(shapePace(last).shareUntil(start + 108 * hourMs)).toBe(1);
  expect(shapePace(input({ mode: 'asap' })).shareUntil(start)).toBe(1);
});

test('a plan that ends before the window goes on in the shape of the network; an empty one is the network', () => {
  const traffic = plannedTraffic(start, Array(168).fill(50));
  const week = opportunitiesBetween(traffic, start, start + 168 * hourMs);
  expect(week).toBeCloseTo(50 * 168, 6);
  expect(opportunitiesBetween(traffic, start + 168 * hourMs, start + 336 * hourMs)).toBeCloseTo(week, 3);
  expect(plannedTraffic(start, [0, 0])).toBe(networkTraffic);
});
