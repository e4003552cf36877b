import { expect, test } from '@jest/globals';
import { simulateDelivery } from '@longwave/forecasting';
import { bookedLine, bookedPlan, generateWorld } from '@longwave/forecasting/generated-world';
import { withHiddenSold } from './rare-values.ts';

const weekMs = 7 * 86_400_000;
const fromMs = Date.UTC(2026, 0, 5);
const week = { fromMs, toMs: fromMs + weekMs };
const world = generateWorld({ seed: 3, podcasts: 3, fromMs: fromMs - 5 * weekMs, toMs: week.toMs, playsPerDay: 200 });
const plays = world.playsOf({ fromMs: fromMs - weekMs, toMs: fromMs });
/** Breaks of a week that the line item fits. */
const fitting = plays.reduce(
  (sum, { country, weight, breaks }) => sum + (country === 'DE' ? weight * breaks.length : 0),
  0,
);

/** Sells one line item for listeners in Germany, in a flight of so many weeks. The sample hides the country of some plays. */
function sold({ weeks, quantity }: { readonly weeks: number; readonly quantity: number }) {
  const window = { start: new Date(fromMs).toISOString(), end: new Date(fromMs + weeks * weekMs).toISOString() };
  const any = bookedLine({ line_item_id: 'li', window }).targeting;
  const line = bookedLine({
    ...{ line_item_id: 'li', window, goal: { unit: 'impressions', quantity } },
    targeting: { ...any, countries: { include: ['DE'], exclude: [] } },
    pacing: { mode: 'even', velocity: 1, finish_early_pct: 0, counting_basis: 'reserved', time_zone: 'UTC' },
  });
  const plan = {
    ...bookedPlan(world, { seed: 1, guaranteed: 0, window, slots: 0, bookedShare: 0 }),
    line_items: [line],
  };
  const days = { ...week, timeZone: 'UTC' };
  return { plan, baseline: simulateDelivery({ plan, plays, days, count: 800 }).baseline };
}

const includedIn = ({ plan, baseline }: ReturnType<typeof sold>) =>
  withHiddenSold(plan, baseline, new Map([['countries', 0.1]])).line_items[0]!.targeting.countries.include;

test('a line item that the sample shows too few plays for has those with a hidden value too', () => {
  expect(includedIn(sold({ weeks: 1, quantity: Math.round(2 * fitting) }))).toEqual(['DE', 'other']);
});

test('a line item that has in the window what its longer flight plans for it has no others', () => {
  expect(includedIn(sold({ weeks: 40, quantity: Math.round(8 * fitting) }))).toEqual(['DE']);
});
