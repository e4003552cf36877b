import { expect, test } from '@jest/globals';
import { forecastDelivery, makeBaseline, simulateDelivery } from '../src/index.ts';
import { bookedWeek, days, lastWeekOf } from './_world.ts';

const { plays, plan } = bookedWeek({ seed: 31, playsPerDay: 3000, bookedShare: 0.45, capped: true });
const past = lastWeekOf(plays);
const inputs = { plan, plays: past, days, count: 6000 };
const whole = simulateDelivery(inputs);
const goals = whole.lines.filter(({ goalLeft }) => goalLeft !== undefined);

test('no line item has more than its goal, but for one simulated play', () => {
  for (const { goalLeft, delivered } of goals) expect(delivered).toBeLessThanOrEqual(goalLeft! + whole.baseline.scale);
});

test('an even line item that reaches its goal has about a seventh of it each day of a week', () => {
  const reached = goals.filter(
    ({ goalLeft, delivered, eligible }) => delivered > 0.98 * goalLeft! && eligible > 3 * goalLeft!,
  );
  expect(reached.length).toBeGreaterThan(3);
  for (const { goalLeft, byDay } of reached)
    for (const { delivered } of byDay) {
      expect(delivered).toBeGreaterThan(goalLeft! / 7 - goalLeft! * 0.04 - 2 * whole.baseline.scale);
      expect(delivered).toBeLessThan(goalLeft! / 7 + goalLeft! * 0.04 + 2 * whole.baseline.scale);
    }
});

test('a daily maximum holds on every day', () => {
  const bounded = {
    ...plan,
    line_items: plan.line_items.map((line) => ({
      ...line,
      ...(line.pacing && { pacing: { ...line.pacing, daily_max: Math.ceil(line.goal.quantity! / 20) } }),
    })),
  };
  const { lines, baseline } = simulateDelivery({ ...inputs, plan: bounded, count: 4000 });
  for (const { byDay, goalLeft } of lines)
    if (goalLeft !== undefined)
      for (const { delivered } of byDay) expect(delivered).toBeLessThanOrEqual(goalLeft / 20 + 1 + 2 * baseline.scale);
});

test('a sponsorship has its share of the breaks that it fits, and a line item that is short says what stood in its way', () => {
  for (const { lineItemId, delivered, eligible } of whole.lines.filter((one) => one.lineItemId.startsWith('sp_')))
    expect([lineItemId, Math.abs(delivered / eligible - 0.15) < 0.01]).toEqual([lineItemId, true]);
  for (const { verdicts, eligible, delivered } of whole.lines) {
    const lost = verdicts.reduce((sum, { breaks }) => sum + breaks, 0);
    expect(lost + delivered).toBeCloseTo(eligible, 3);
  }
});

test('a baseline that is made alone decides as a whole simulation, also in plays that were drawn for another plan', () => {
  const { line_items: lines } = plan;
  const other = makeBaseline({ ...inputs, plan: { ...plan, line_items: lines.slice(0, -2) }, count: 1000 });
  const { picks, projected } = simulateDelivery({ ...inputs, count: 1000 }).baseline;
  expect(makeBaseline({ ...inputs, count: 1000 }).picks).toEqual(picks);
  const again = makeBaseline({ ...inputs, count: 1000 }, other);
  expect(again.picks).toEqual(picks);
  expect(again.projected).toBe(other.projected);
  expect(again.projected).toEqual(projected);
  const uncapped = { ...plan, line_items: lines.map((line) => ({ ...line, frequency_caps: [] })) };
  // With caps plays are drawn by listener.
  expect(makeBaseline({ ...inputs, plan: uncapped, count: 1000 }, other).plays).not.toBe(other.plays);
});

test('a delivery rate makes more decisions, not more delivered units', () => {
  const rates = new Map(plan.line_items.map(({ line_item_id: id }) => [id, 0.8]));
  const { lines, baseline } = simulateDelivery({ ...inputs, deliveryRates: rates, count: 4000 });
  const decided = baseline.picks.length;
  expect(decided).toBeGreaterThan(0);
  for (const { goalLeft, delivered } of lines)
    if (goalLeft !== undefined) expect(delivered).toBeLessThanOrEqual(goalLeft + baseline.scale);
});

test('the same inputs give the same answer, and quantiles are in order', () => {
  const { lines } = forecastDelivery({ ...inputs, count: 3000 }, { low: 0.8, high: 1.25 });
  const again = simulateDelivery({ ...inputs, count: 3000 }).lines;
  lines.forEach(({ p10, p50, p90 }, at) => {
    expect(p50).toBe(again[at]!.delivered);
    expect(p10).toBeLessThanOrEqual(p50);
    expect(p90).toBeGreaterThanOrEqual(p50);
  });
});
