import { expect, test } from '@jest/globals';
import type { ServingPlanDocument } from '@longwave/events';
import { bookedLine } from '../src/generated-world/index.ts';
import { askAvailability, findAvailability, findFittingQuantity, simulateDelivery } from '../src/index.ts';
import { bookedWeek, dayMs, days, hourMs, lastWeekOf, playOf, startMs, week } from './_world.ts';

const { plays, plan, prospects } = bookedWeek({ seed: 41, playsPerDay: 2000, bookedShare: 0.4 });
const past = lastWeekOf(plays);
const baseline = simulateDelivery({ plan, plays: past, days, count: 5000 }).baseline;
const chosen = prospects.slice(0, 2);

/** What a full run with one more line item gives it, and what the others have. */
function runWith(line: (typeof prospects)[number], priority: number) {
  const lines = [...plan.line_items, { ...line, priority }];
  const run = simulateDelivery({ plan: { ...plan, line_items: lines }, plays: past, days, count: 5000 });
  return new Map(run.lines.map(({ lineItemId, delivered }) => [lineItemId, delivered]));
}

test('only the plays that match are decided again, and the answers are those of two runs of all plays with one more line item', () => {
  for (const line of chosen) {
    const found = findAvailability({ plan, plays: past, days, baseline, prospective: line });
    const [behind, ahead] = [runWith(line, 11), runWith(line, line.priority)];
    expect(Math.abs(found.available - behind.get(line.line_item_id)!)).toBeLessThan(0.01 * found.capacity);
    expect(Math.abs(found.possible - ahead.get(line.line_item_id)!)).toBeLessThan(0.03 * found.capacity);
    expect(found.available).toBeLessThanOrEqual(found.capacity);
    // The largest loser by the full runs is among the contending ones.
    const losses = [...ahead].map(([id, delivered]) => ({ id, loses: (behind.get(id) ?? 0) - delivered }));
    const guaranteed = losses.filter(({ id }) => id.startsWith('li_')).sort((a, b) => b.loses - a.loses);
    const [most] = guaranteed;
    if (most!.loses > 400) expect(found.contending.map(({ lineItemId }) => lineItemId)).toContain(most!.id);
  }
});

test('with a bound of plays the answer stays near, and fewer plays are decided again', () => {
  const [line] = chosen;
  const all = findAvailability({ plan, plays: past, days, baseline, prospective: line! });
  const some = findAvailability({ plan, plays: past, days, baseline, prospective: line!, maxPlays: 600 });
  expect(some.sample.replayed).toBeLessThanOrEqual(2400);
  expect(Math.abs(some.available - all.available)).toBeLessThan(0.05 * all.capacity);
  expect(Math.abs(some.possible - all.possible)).toBeLessThan(0.05 * all.capacity);
});

test('a quantity that fits behind all others takes nothing from guaranteed line items', () => {
  const [line] = chosen;
  const { available } = findAvailability({ plan, plays: past, days, baseline, prospective: line! });
  const quantity = Math.floor(available / 10);
  const behind = { ...line!, priority: 10 };
  const found = findAvailability({ plan, plays: past, days, baseline, prospective: behind, quantity });
  expect(found.possible).toBeLessThanOrEqual(quantity);
  expect(found.possible).toBeGreaterThan(0.95 * quantity);
  expect(found.contending.filter(({ tier }) => tier === 'guaranteed')).toEqual([]);
});

test('a further quantity of the same line item has the answer that it has alone, in any order', () => {
  const asked = { plan, plays: past, days, baseline, prospective: chosen[1]!, maxPlays: 600 };
  const ask = askAvailability(asked);
  for (const quantity of [40_000, 500, undefined, 40_000])
    expect(ask(quantity)).toEqual(findAvailability({ ...asked, ...(quantity !== undefined && { quantity }) }));
});

test('a line item that is amended does not stand in its own way', () => {
  const booked = plan.line_items.find(({ line_item_id: id }) => id === 'li_00002')!;
  const found = findAvailability({ plan, plays: past, days, baseline, prospective: booked });
  const had = simulateDelivery({ plan, plays: past, days, count: 5000 }).lines.find(
    ({ lineItemId }) => lineItemId === booked.line_item_id,
  )!;
  expect(found.possible).toBeGreaterThan(0.95 * had.delivered);
});

test('podcasts and days of an answer sum to it', () => {
  const [line] = chosen;
  const found = findAvailability({ plan, plays: past, days, baseline, prospective: line! });
  const sum = (parts: readonly { readonly available: number }[]) => parts.reduce((all, one) => all + one.available, 0);
  expect(sum(found.byDay)).toBeCloseTo(found.available, 3);
  expect(sum(found.byPodcast)).toBeCloseTo(found.available, 3);
});

/** The same plan with flights of a year, and goals that are larger by as much. @param weeksBefore of the year that lie before the week */
function yearOf({ line_items: lines, ...document }: ServingPlanDocument, weeksBefore: number): ServingPlanDocument {
  const start = week.fromMs - weeksBefore * 7 * dayMs;
  const window = { start: new Date(start).toISOString(), end: new Date(start + 364 * dayMs).toISOString() };
  return {
    ...document,
    line_items: lines.map((line) => {
      const { goal } = line;
      if (goal.unit === 'share_pct' || goal.quantity === undefined) return { ...line, window };
      const pacing = { ...line.pacing!, finish_early_pct: 0 };
      return { ...line, window, pacing, goal: { ...goal, quantity: 52 * goal.quantity } };
    }),
  };
}

test.each([0, 51])(
  'of flights of a year a week has what they take of it, not all that they lack (%i weeks lie before it)',
  (weeksBefore) => {
    const [line] = chosen;
    const year = yearOf(plan, weeksBefore);
    const goalsAtMs = week.fromMs - weeksBefore * 7 * dayMs;
    const run = simulateDelivery({ plan: year, plays: past, days, count: 5000, goalsAtMs });
    const found = findAvailability({ plan: year, plays: past, days, baseline: run.baseline, prospective: line! });
    const ofWeek = findAvailability({ plan, plays: past, days, baseline, prospective: line! });
    expect(Math.abs(found.available - ofWeek.available)).toBeLessThan(0.02 * ofWeek.capacity);
    for (const { goalLeft, wanted, delivered } of run.lines) {
      if (goalLeft === undefined) continue;
      expect(Math.abs(wanted! - goalLeft / 52)).toBeLessThanOrEqual(run.baseline.scale);
      expect(delivered).toBeLessThanOrEqual(wanted! + run.baseline.scale);
    }
  },
);

const bounds = { mode: 'even', velocity: 1, finish_early_pct: 0, counting_basis: 'ad_delivered' } as const;
const zone = 'Asia/Kolkata';
/** Midnight there. */
const zoneFromMs = startMs - 5.5 * hourMs;
const tenDays = { fromMs: zoneFromMs, toMs: zoneFromMs + 10 * dayMs, timeZone: zone };

/**
 * Asks for 5,000 units of ten days with 300 plays each, but for the fourth, which has 40. The line item may be given 100 slots a day, from noon
 * of the first day to noon of the last.
 */
function askBounded(deliveryRate: number, mode: 'even' | 'asap' = 'even') {
  const sample = Array.from({ length: 7 }, (_, day) =>
    Array.from({ length: day === 3 ? 40 : 300 }, (_play, at) =>
      playOf({ atMs: zoneFromMs + (day - 14 + at / 300) * dayMs, podcastId: `pod_${at % 3}` }),
    ),
  ).flat();
  const prospective = bookedLine({
    ...{ line_item_id: 'li_new', goal: { unit: 'impressions', quantity: 5_000 } },
    window: {
      start: new Date(tenDays.fromMs + dayMs / 2).toISOString(),
      end: new Date(tenDays.toMs - dayMs / 2).toISOString(),
    },
    pacing: { ...bounds, mode, time_zone: zone, daily_max: 100 },
  });
  const ask = askAvailability({
    ...{ plays: sample, days: tenDays, count: 2_000, prospective },
    plan: { ...plan, line_items: [] },
    deliveryRates: new Map([['li_new', deliveryRate]]),
  });
  return { ask, found: ask(5_000) };
}

test.each([1, 0.8])(
  'of each day of its zone a line item has at most its daily maximum, as far as it is heard (%d of it), also of days that it begins or ends on',
  (rate) => {
    const { ask, found } = askBounded(rate);
    const few = found.byDay[3]!;
    const full = found.byDay.filter((day) => day !== few);
    expect(full.map(({ available }) => available)).toEqual(Array(9).fill(100 * rate));
    expect(Math.abs(few.available - 40 * rate)).toBeLessThanOrEqual(4);
    expect(found.available).toBeCloseTo(900 * rate + few.available, 3);
    expect(found.byPodcast.reduce((all, { available }) => all + available, 0)).toBeCloseTo(found.available, 3);
    expect(findFittingQuantity(ask, 5_000, found)).toBe(Math.floor(found.available));
    expect(found.possible).toBeLessThanOrEqual(1_000 * rate);
    expect(askBounded(rate, 'asap').found.possible).toBeLessThanOrEqual(1_000 * rate);
  },
);
