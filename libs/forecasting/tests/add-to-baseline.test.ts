import { expect, test } from '@jest/globals';
import { bookedLine, createDraws, targetingOf } from '../src/generated-world/index.ts';
import { addToBaseline, findAvailability, pickedOrdinal, simulateDelivery } from '../src/index.ts';
import { bookedWeek, dayMs, days, lastWeekOf, planWindow, week } from './_world.ts';

const count = 1600;
const none = { goalsLeft: new Map(), deliveryRates: new Map() };

test.each([
  [51, false, 0.5],
  [61, true, 0.4],
])(
  'after a random sequence of sales the changed baseline answers as one that is made anew (world %i, capped %s)',
  (seed, capped, bookedShare) => {
    const { world, plays, plan, prospects } = bookedWeek({ seed, playsPerDay: 800, bookedShare, capped });
    const inputs = { plays: lastWeekOf(plays), days, count };
    const draws = createDraws(seed);
    let sold = plan;
    const first = simulateDelivery({ plan, ...inputs }).baseline;
    let baseline = first;
    for (let sale = 0; sale < 4; sale++) {
      const line = bookedLine({
        ...{ line_item_id: `sold_${sale}`, window: planWindow, priority: 1 + Math.floor(9 * draws.unit()) },
        goal: { unit: 'impressions', quantity: 100 + Math.floor(1_000 * draws.unit()) },
        targeting: targetingOf(world.podcasts, draws),
      });
      sold = { ...sold, line_items: [...sold.line_items, line] };
      baseline = addToBaseline(baseline, sold, { added: [line], ...none })!;
    }
    const anew = simulateDelivery({ plan: sold, ...inputs }).baseline;
    for (const prospective of prospects.slice(0, 1)) {
      const [changed, exact, before] = [
        findAvailability({ plan: sold, ...inputs, baseline, prospective }),
        findAvailability({ plan: sold, ...inputs, baseline: anew, prospective }),
        findAvailability({ plan, ...inputs, baseline: first, prospective }),
      ];
      expect(Math.abs(changed.available - exact.available)).toBeLessThan(0.01 * exact.capacity);
      expect(Math.abs(changed.possible - exact.possible)).toBeLessThan(0.03 * exact.capacity);
      expect(changed.available).toBeLessThan(before.available);
    }
  },
);

test('of a line item with a flight of a year, a kept week has a part', () => {
  const { plays, plan } = bookedWeek({ seed: 51, playsPerDay: 300, bookedShare: 0.1 });
  const { baseline } = simulateDelivery({ plan, plays: lastWeekOf(plays), days, count: 500 });
  const end = new Date(week.fromMs + 364 * dayMs).toISOString();
  const quantity = Math.round(52 * 40 * baseline.scale);
  const pacing = baseline.plan.line_items.find(({ line_item_id: id }) => id === 'li_00000')!.pacing!;
  const window = { ...planWindow, end };
  const line = bookedLine({ line_item_id: 'year', window, pacing, goal: { unit: 'impressions', quantity } });
  const sold = { ...plan, line_items: [...plan.line_items, line] };
  const { index, picks } = addToBaseline(baseline, sold, { added: [line], ...none })!;
  const added = index.lines.findIndex(({ lineItemId }) => lineItemId === 'year');
  expect(picks.filter((pick) => pickedOrdinal(pick) === added).length).toBe(40);
});

test('a first line item with a cap asks for another baseline: plays are drawn by listener then', () => {
  const { plays, plan } = bookedWeek({ seed: 51, playsPerDay: 300, bookedShare: 0.4 });
  const { baseline } = simulateDelivery({ plan, plays: lastWeekOf(plays), days, count: 500 });
  const line = bookedLine({
    ...{ line_item_id: 'capped', window: planWindow },
    frequency_caps: [{ max: 1, per: 'listener_bucket', window_seconds: 86_400 }],
  });
  const sold = { ...plan, line_items: [...plan.line_items, line] };
  expect(addToBaseline(baseline, sold, { added: [line], ...none })).toBeUndefined();
});
