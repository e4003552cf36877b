import { expect, test } from '@jest/globals';
import type { ServingPlanDocument } from '@longwave/events';
import { bookedLine, bookedPlan, createDraws, generateWorld, targetingOf } from '@longwave/forecasting/generated-world';
import type { ForecastInputs } from './forecast-inputs.ts';
import { createKeepBaselines, type Widen } from './keep-baselines.ts';

const weekMs = 7 * 86_400_000;
const fromMs = Date.UTC(2026, 0, 5);
const range = { fromMs, toMs: fromMs + weekMs };
const window = { start: new Date(fromMs).toISOString(), end: new Date(range.toMs).toISOString() };
const world = generateWorld({ seed: 3, podcasts: 3, fromMs: fromMs - 5 * weekMs, toMs: range.toMs, playsPerDay: 100 });
const plays = world.playsOf({ fromMs: fromMs - weekMs, toMs: fromMs });
const plan = bookedPlan(world, { seed: 1, guaranteed: 30, window, slots: 1_000, bookedShare: 0.4 });
const draws = createDraws(1);
const lineOf = (id: string) =>
  bookedLine({
    ...{ line_item_id: id, window, goal: { unit: 'impressions', quantity: 50 } },
    targeting: targetingOf(world.podcasts, draws),
  });
const idsOf = ({ line_items: lines }: ServingPlanDocument) => lines.map(({ line_item_id: id }) => id);

/** The inputs of a question when these line items are sold. */
const inputsOf = (lines: ServingPlanDocument['line_items']): ForecastInputs => ({
  ...{ workspaceId: 'ws_1', nowMs: fromMs, committed: [], backtests: [], maxPlays: 300 },
  past: { untilMs: fromMs, plays, hours: [] },
  booking: {
    plan: structuredClone({ ...plan, line_items: lines }),
    head: { bookingVersion: 1n, planDigest: '', timeZone: 'UTC', modifiers: [], releases: [] },
  },
});

/** Widens the first line item of what it is asked about, and notes what that is. */
function createWiden() {
  const asked: (readonly string[])[] = [];
  const widen = (of: ServingPlanDocument) => {
    asked.push(idsOf(of));
    const [first, ...others] = of.line_items;
    return { ...of, line_items: [{ ...first!, weight: 77 }, ...others] };
  };
  return { asked, widen };
}

test('a sale is added to the baseline of a wider plan, whose line items stay as wide as they were', () => {
  const { baselineOf: keep } = createKeepBaselines();
  const { asked, widen } = createWiden();
  const lines = [lineOf('a'), lineOf('b')];
  const sold = inputsOf(lines);
  const wide = keep(sold, range, widen).baseline;
  expect(keep(sold, range, widen).baseline).toBe(wide);
  expect(wide.plays).toBe(keep(sold, range).baseline.plays);
  const more = keep(inputsOf([...lines, lineOf('c'), lineOf('d')]), range, widen).baseline;
  expect(asked).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(more.plays).toBe(wide.plays);
  expect(more.plan.line_items.map(({ line_item_id: id, weight }) => [id, weight === 77])).toEqual([
    ['a', true],
    ['b', false],
    ['c', true],
    ['d', false],
  ]);
});

test('a line item that was changed has both baselines made anew, and a plan that nothing widens has one alone', () => {
  const { baselineOf: keep } = createKeepBaselines();
  const { asked, widen } = createWiden();
  const [a, b] = [lineOf('a'), lineOf('b')];
  keep(inputsOf([a, b]), range, widen);
  keep(inputsOf([{ ...a, priority: 2 }, b]), range, widen);
  expect(asked).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  const sold = inputsOf([b]);
  expect(keep(sold, range, (of) => of).baseline).toBe(keep(sold, range).baseline);
});

const minuteMs = 60_000;
/** Makes all that there is to make ahead; answers the number of parts. */
function makeAll({ makeAhead }: ReturnType<typeof createKeepBaselines>, inputs: ForecastInputs, widen: Widen): number {
  let parts = 0;
  while (makeAhead(inputs, widen)) parts++;
  return parts;
}

test('after an hour, a sale or eight minutes what the next question needs is made ahead, of both plans: it finds it made', () => {
  const kept = createKeepBaselines();
  const { asked, widen } = createWiden();
  const lines = [lineOf('a'), lineOf('b')];
  const sold = inputsOf(lines);
  expect(makeAll(kept, sold, widen)).toBe(0);
  kept.baselineOf(sold, range, widen);
  expect(makeAll(kept, sold, widen)).toBe(0);
  const more = inputsOf([...lines, lineOf('c')]);
  const nextHour = { ...more, nowMs: fromMs + 61 * minuteMs, past: { ...more.past, untilMs: fromMs + 60 * minuteMs } };
  const later = { ...more, nowMs: fromMs + 8 * minuteMs };
  const evenLater = { ...nextHour, nowMs: nextHour.nowMs + 8 * minuteMs };
  for (const [inputs, parts] of [
    [more, 2],
    [later, 2],
    // The curves too.
    [{ ...nextHour, nowMs: fromMs + 20 * minuteMs }, 3],
    [evenLater, 0],
  ] as const) {
    const before = asked.length;
    expect(makeAll(kept, inputs, widen)).toBe(parts);
    const made = asked.length;
    expect(made - before).toBe(parts === 0 ? 0 : 1);
    if (parts === 0) continue;
    // A question of the next hour needs what begins then.
    const ahead = { ...range, fromMs: Math.max(fromMs, inputs.nowMs) };
    const [wide, one] = [kept.baselineOf(inputs, ahead, widen), kept.baselineOf(inputs, ahead)];
    expect(asked).toHaveLength(made);
    expect(idsOf(one.baseline.plan)).toEqual(['a', 'b', 'c']);
    expect(wide.baseline.plays).toBe(one.baseline.plays);
    expect(makeAll(kept, inputs, widen)).toBe(0);
  }
});

test('what is made ahead answers as what is made for the question', () => {
  const kept = createKeepBaselines();
  const { widen } = createWiden();
  const sold = inputsOf([lineOf('a'), lineOf('b')]);
  kept.baselineOf(sold, range);
  const inputs = { ...sold, nowMs: fromMs + 9 * minuteMs, past: { ...sold.past, untilMs: fromMs - 60 * minuteMs } };
  expect(makeAll(kept, inputs, widen)).toBe(2);
  const { index: _index, fitsAt: _fitsAt, ...ahead } = kept.baselineOf(inputs, range).baseline;
  const { index: _own, fitsAt: _fits, ...anew } = createKeepBaselines().baselineOf(inputs, range).baseline;
  expect(ahead).toEqual(anew);
});

test('what nobody has asked for half an hour, or whose window is over, is not made ahead', () => {
  const kept = createKeepBaselines();
  const { widen } = createWiden();
  const sold = inputsOf([lineOf('a')]);
  kept.baselineOf(sold, range);
  const after = (minutes: number) => ({ ...sold, nowMs: fromMs + minutes * minuteMs });
  for (const minutes of [9, 18, 27]) expect(makeAll(kept, after(minutes), widen)).toBe(1);
  expect(makeAll(kept, after(36), widen)).toBe(0);
  kept.baselineOf(sold, range);
  expect(makeAll(kept, { ...sold, nowMs: range.toMs }, widen)).toBe(0);
});
