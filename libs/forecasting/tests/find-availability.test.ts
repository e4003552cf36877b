import { expect, test } from '@jest/globals';
import { findAvailability, simulateDelivery } from '../src/index.ts';
import { bookedWeek, days, lastWeekOf } from './_world.ts';

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
