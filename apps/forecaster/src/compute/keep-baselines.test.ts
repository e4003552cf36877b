import { expect, test } from '@jest/globals';
import type { ServingPlanDocument } from '@longwave/events';
import type { TimeRange } from '@longwave/forecasting';
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
function makeAll(
  { makeAhead }: ReturnType<typeof createKeepBaselines>,
  inputs: ForecastInputs,
  widen: Widen,
  flights?: readonly TimeRange[],
): number {
  let parts = 0;
  while (makeAhead(inputs, widen, flights)) parts++;
  return parts;
}

test('after an hour, a sale or a 600th of its days what the next question needs is made ahead, of both plans: it finds it made', () => {
  const kept = createKeepBaselines();
  const { asked, widen } = createWiden();
  const lines = [lineOf('a'), lineOf('b')];
  const sold = inputsOf(lines);
  expect(makeAll(kept, sold, widen)).toBe(0);
  kept.baselineOf(sold, range, widen);
  expect(makeAll(kept, sold, widen)).toBe(0);
  const more = inputsOf([...lines, lineOf('c')]);
  const nextHour = { ...more, nowMs: fromMs + 61 * minuteMs, past: { ...more.past, untilMs: fromMs + 60 * minuteMs } };
  const later = { ...more, nowMs: fromMs + 17 * minuteMs };
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
  const { index: _index, fits: _fits, ...ahead } = kept.baselineOf(inputs, range).baseline;
  const { index: _own, fits: _others, ...anew } = createKeepBaselines().baselineOf(inputs, range).baseline;
  expect(ahead).toEqual(anew);
});

test('what nobody has asked for half an hour, or whose window is over, is not made ahead', () => {
  const kept = createKeepBaselines();
  const { widen } = createWiden();
  const sold = inputsOf([lineOf('a')]);
  kept.baselineOf(sold, range);
  const after = (minutes: number) => ({ ...sold, nowMs: fromMs + minutes * minuteMs });
  const parts = [9, 17, 27, 36].map((minutes) => makeAll(kept, after(minutes), widen));
  expect(parts).toEqual([0, 1, 0, 0]);
  kept.baselineOf(sold, range);
  expect(makeAll(kept, { ...sold, nowMs: range.toMs }, widen)).toBe(0);
});

/** The same inputs without the sample: what is made anew fails. */
const withoutSample = (inputs: ForecastInputs): ForecastInputs => ({
  ...inputs,
  past: { ...inputs.past, plays: undefined as never },
});
/** The part that two baselines of the same question have in common. */
const madeOf = ({ index: _index, fits: _fits, ...made }: ReturnType<Kept['baselineOf']>['baseline']) => made;
type Kept = ReturnType<typeof createKeepBaselines>;
const { widen: widenFirst } = createWiden();

test('the first question of a workspace about a flight that was offered, or a part of it, or four weeks where none was, finds what it would make itself', () => {
  const inputs = inputsOf([lineOf('a'), lineOf('b')]);
  const fourWeeks = { fromMs, toMs: fromMs + 4 * weekMs };
  const half = { fromMs: fromMs + weekMs / 4, toMs: fromMs + (3 * weekMs) / 4 };
  const over = { fromMs: fromMs - weekMs, toMs: fromMs };
  for (const { flights, asked, made } of [
    { flights: [over, range], asked: range, made: range },
    { flights: [half, range, half], asked: half, made: range },
    { flights: [range], asked: half, made: range },
    { flights: [], asked: fourWeeks, made: fourWeeks },
  ]) {
    const kept = createKeepBaselines();
    expect(makeAll(kept, inputs, widenFirst, flights)).toBeGreaterThan(0);
    const ahead = kept.baselineOf(withoutSample(inputs), asked).baseline;
    expect(madeOf(ahead)).toEqual(madeOf(createKeepBaselines().baselineOf(inputs, made).baseline));
    expect(makeAll(kept, inputs, widenFirst, flights)).toBe(0);
  }
});

test('a sale before the first question is in the baseline that was made ahead', () => {
  const kept = createKeepBaselines();
  const [a, b] = [lineOf('a'), lineOf('b')];
  makeAll(kept, inputsOf([a]), widenFirst, [range]);
  const { baseline } = kept.baselineOf(withoutSample(inputsOf([a, b])), range);
  expect(idsOf(baseline.plan)).toEqual(['a', 'b']);
});

test('after an hour what was known before it answers until it is made again; what people say of the traffic counts at once', () => {
  const kept = createKeepBaselines();
  const inputs = inputsOf([lineOf('a'), lineOf('b')]);
  const before = kept.baselineOf(inputs, range).baseline;
  const nextHour = {
    ...inputs,
    nowMs: fromMs + 15 * minuteMs,
    past: { ...inputs.past, untilMs: fromMs + 60 * minuteMs },
  };
  expect(kept.baselineOf(withoutSample(nextHour), range).baseline).toBe(before);
  expect(makeAll(kept, nextHour, widenFirst)).toBeGreaterThan(0);
  const made = kept.baselineOf(withoutSample(nextHour), range).baseline;
  expect(madeOf(made)).toEqual(madeOf(createKeepBaselines().baselineOf(nextHour, range).baseline));
  const { booking } = nextHour;
  const modifier = { trafficModifierId: 'tm_1', fromMs: 0n, toMs: BigInt(range.toMs), factor: 0.5, podcastIds: [] };
  const told = { ...nextHour, booking: { ...booking, head: { ...booking.head, modifiers: [modifier] } } };
  expect(kept.baselineOf(told, range).baseline).not.toBe(made);
});

test('an episode that was withdrawn, postponed or scheduled since has the baseline made anew by the next question; one that came out has not', () => {
  const [dueMs, laterMs] = [fromMs + 10 * minuteMs, fromMs + 60 * minuteMs];
  const releaseOf = (episodeId: string, atMs: number) => ({ episodeId, podcastId: 'pod_1', publishAtMs: BigInt(atMs) });
  const sold = inputsOf([lineOf('a')]);
  const at = (minutes: number, releases: ForecastInputs['booking']['head']['releases']): ForecastInputs => ({
    ...{ ...sold, nowMs: fromMs + minutes * minuteMs },
    booking: { ...sold.booking, head: { ...sold.booking.head, releases } },
  });
  const [one, out] = [releaseOf('ep_1', dueMs), releaseOf('ep_1', dueMs + 1)];
  for (const { minutes, told, isKept } of [
    { minutes: 5, told: [one], isKept: true },
    { minutes: 5, told: [], isKept: false },
    { minutes: 5, told: [releaseOf('ep_1', laterMs)], isKept: false },
    { minutes: 5, told: [one, releaseOf('ep_2', laterMs)], isKept: false },
    // Others that are out already.
    { minutes: 5, told: [releaseOf('ep_3', fromMs), one], isKept: true },
    { minutes: 11, told: [out], isKept: true },
    // It was withdrawn or postponed before its time, and nobody asked until then.
    { minutes: 11, told: [], isKept: false },
    { minutes: 11, told: [releaseOf('ep_1', laterMs)], isKept: false },
  ]) {
    const kept = createKeepBaselines();
    const { baseline } = kept.baselineOf(at(0, [one]), range);
    const { baseline: next } = kept.baselineOf(at(minutes, told), range);
    expect({ minutes, told, isKept: next === baseline }).toEqual({ minutes, told, isKept });
    expect(kept.baselineOf(withoutSample(at(minutes, told)), range).baseline).toBe(next);
  }
});

test('what nobody has asked about takes no room from what somebody did', () => {
  const inputs = inputsOf([lineOf('a'), lineOf('b')]);
  const other = { ...inputs, workspaceId: 'ws_2' };
  // One of them has a place.
  const kept = createKeepBaselines(1_500);
  const { baseline } = kept.baselineOf(inputs, range);
  expect(makeAll(kept, other, widenFirst, [range])).toBeGreaterThan(0);
  expect(makeAll(kept, other, widenFirst, [range])).toBe(0);
  expect(kept.baselineOf(withoutSample(inputs), range).baseline).toBe(baseline);
});
