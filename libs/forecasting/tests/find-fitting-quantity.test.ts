import { expect, test } from '@jest/globals';
import { defaultSeparation, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';
import { bookedLine } from '../src/generated-world/index.ts';
import { askAvailability, findFittingQuantity, makeBaseline, simulateDelivery } from '../src/index.ts';
import { days, hourMs, lastWeekOf, planWindow, playOf, startMs } from './_world.ts';

const playsPerHour = 10;
const slotsOfPosition = 7 * 24 * playsPerHour;

const breakAt = (position: 'pre' | 'mid') => ({
  ...{ key: position, position, maxSlots: 1, maxDurationMs: 30_000, positionMs: 0, slotRules: [] },
});
/** A week of plays with a pre-roll and a mid-roll each. */
const plays = lastWeekOf(
  Array.from({ length: slotsOfPosition }, (_, at) =>
    playOf({ atMs: startMs + Math.floor(at / playsPerHour) * hourMs, breaks: [breakAt('pre'), breakAt('mid')] }),
  ),
);

const guaranteed = (id: string, priority: number, quantity: number, positions: PlanLineItem['break_positions']) =>
  bookedLine({
    ...{ line_item_id: id, window: planWindow, priority, break_positions: positions },
    goal: { unit: 'impressions', quantity },
    pacing: { mode: 'even', velocity: 1, finish_early_pct: 0, counting_basis: 'reserved', time_zone: 'UTC' },
  });
const planOf = (...lines: PlanLineItem[]): ServingPlanDocument => ({
  ...{ format: 2, workspace_id: 'ws_1', effective_from: planWindow.start, inputs: [], floors: [] },
  ...{ separation: defaultSeparation, line_items: lines },
});

/** Sold in pre-rolls alone, behind whoever has a better priority. */
const soldBefore = guaranteed('li_before', 8, 0.6 * slotsOfPosition, ['pre']);
const sold = planOf(soldBefore);
const known = { plan: sold, plays, days, count: slotsOfPosition };
const inputs = { ...known, baseline: makeBaseline(known) };

/** What both have when a line item of everywhere was sold as much as fits. */
function sellMore(priority: number, quantity: number) {
  const line = guaranteed('li_new', priority, quantity, ['pre', 'mid']);
  const ask = askAvailability({ ...inputs, prospective: line });
  const found = ask(quantity);
  const fitting = findFittingQuantity(ask, quantity, found);
  const both = planOf(soldBefore, guaranteed('li_new', priority, Math.min(quantity, fitting), ['pre', 'mid']));
  const { lines } = simulateDelivery({ ...known, plan: both });
  const had = new Map(lines.map(({ lineItemId, delivered }) => [lineItemId, delivered]));
  return { available: found.available, fitting, had };
}

test('of what is left a line item of a better priority is sold no more than leaves others what they were promised', () => {
  const quantity = 1.3 * slotsOfPosition;
  const { available, fitting, had } = sellMore(1, quantity);
  expect(available).toBeGreaterThan(quantity);
  expect(fitting).toBeLessThan(quantity);
  expect(fitting).toBeGreaterThan(0.35 * slotsOfPosition);
  expect(had.get('li_before')).toBeGreaterThanOrEqual(0.98 * soldBefore.goal.quantity!);
  expect(had.get('li_new')).toBeGreaterThanOrEqual(0.98 * fitting);
});

test('behind all others it is sold everything that is left', () => {
  const { available, fitting, had } = sellMore(10, 1.3 * slotsOfPosition);
  expect(fitting).toBe(Math.floor(available));
  expect(had.get('li_before')).toBeGreaterThanOrEqual(0.98 * soldBefore.goal.quantity!);
});
