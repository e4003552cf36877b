import { expect, test } from '@jest/globals';
import { simulatePacing, type SimulationOptions } from '../src/simulation/simulate-pacing.ts';

const base: SimulationOptions = {
  ...{ seed: 7, days: 2, playsPerDay: 6_000, spikes: 0.55, noise: 0, booked: 0.45, lagMs: 0, faults: false },
  ...{ deliveryRate: 0.82, lastDayRate: 0.82, tickMs: 60_000 },
};

// Two days and goals of some hundred units, so that it takes seconds. What is kept back for late deliveries, a quantile that falls with
// the root of the goal and a day's unheard servings, is 4 to 6 per cent of so short a flight, of which the distance from
// the plan has a part; those of five days are measured by `npm run bench -- pacing`.
test.each([
  ['an exact plan', {}, 6, 2.5],
  ['episodes of unknown levels, counts an hour late and faults', { noise: 0.35, lagMs: 3_600_000, faults: true }, 7, 4],
  ['a delivery rate that rises on the last day', { lastDayRate: 0.97, lagMs: 1_800_000 }, 4, 4],
] as const)(
  'with %s no goal, day or budget is exceeded, shares are had, and each goal is met on its plan',
  (_, given, short, distance) => {
    const result = simulatePacing({ ...base, ...given });
    expect(result.over).toBeLessThanOrEqual(0.5);
    expect(result.overReserved).toBeLessThanOrEqual(0);
    expect(result.overDay).toBeLessThanOrEqual(0);
    expect(result.overBudget).toBeLessThanOrEqual(0);
    expect(result.shareOff).toBeLessThanOrEqual(1);
    expect(result.shortAll).toBeLessThanOrEqual(short);
    expect(result.distanceMean).toBeLessThanOrEqual(distance);
    // Never was more granted than the bound, and rows refused only nodes that had been closed meanwhile.
    expect(result.broken).toBe(0);
    if (!('faults' in given)) expect(result.refused).toBe(0);
  },
);

test('the run tells of slots that no row has, where closed leases refuse nothing', () => {
  expect(simulatePacing({ ...base, faults: true, isUnsafe: true }).broken).toBeGreaterThan(0);
});
