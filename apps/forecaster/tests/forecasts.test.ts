import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { productCatalog, type ChangesInput } from '@longwave/command-catalog';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import { createWorld, evenPlays, guaranteed, planOf, windowOf, type World } from './_support.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => world[Symbol.asyncDispose]());
beforeEach(() => sell([]));

/** A thread that starts on a busy machine takes seconds. */
const deadlineMs = 30_000;
/** 200 plays a day with one slot each, for five weeks. */
const plays = evenPlays(35, 200);
/** Says what is sold, by another version of the bookings. */
function sell(lines: PlanLineItem[]): void {
  world.plays = plays;
  world.plan = planOf(lines);
  world.bookingVersion++;
  world.modifiers = [];
  world.committed = [];
}

async function forecastOf(input: object): Promise<ChangesInput<'forecast.complete'>> {
  const jobId = world.enqueue(input, 2);
  await until(() => world.reportsOf(jobId).length === 2);
  const [, report] = world.reportsOf(jobId);
  expect(report!.commandType).toBe('forecast.complete');
  return productCatalog.commands['forecast.complete'].changes.parse(JSON.parse(report!.changesJson));
}

const week = windowOf(1, 8);
const asked = (quantity?: number, given: Partial<PlanLineItem> = {}): PlanLineItem =>
  guaranteed(1, [1, 8], {
    line_item_id: 'li_prospective',
    goal: quantity === undefined ? { unit: 'unlimited' } : { unit: 'impressions', quantity },
    ...given,
  });
const within = (of: number, share: number) => [of * (1 - share), of * (1 + share)] as const;
function expectNear(actual: number, of: number, share: number): void {
  const [low, high] = within(of, share);
  expect(actual).toBeGreaterThanOrEqual(low);
  expect(actual).toBeLessThanOrEqual(high);
}

test('steady traffic goes on: a week has seven days of it, in parts that add up, within its own interval', async () => {
  const result = await forecastOf({ kind: 'traffic', window: week });
  const { p10, p50, p90 } = result.capacity!;
  expectNear(p50, 1400, 0.15);
  expect(p10 <= p50 && p50 <= p90).toBe(true);
  expectNear(
    result.by_day.reduce((sum, day) => sum + day.p50, 0),
    p50,
    0.02,
  );
  expect(result.by_podcast).toHaveLength(1);
  expect(result.by_position).toMatchObject([{ position: 'mid' }]);
  expect(result).toMatchObject({ booking_version: world.bookingVersion, sample: { days: 28 }, modifiers: [] });
});

test('what is sold is not available again, and who would lose by another line item is named', async () => {
  const free = await forecastOf({ kind: 'availability', window: week, line_item: asked() });
  expectNear(free.available!.p50, free.capacity!.p50, 0.05);
  const sold = guaranteed(700, [1, 8], { line_item_id: `li_${'1'.repeat(26)}` });
  sell([sold]);
  const half = await forecastOf({ kind: 'availability', window: week, line_item: asked(1_400, { priority: 1 }) });
  expectNear(half.available!.p50, half.capacity!.p50 - 700, 0.2);
  expect(half.contending).toMatchObject([{ line_item_id: sold.line_item_id, tier: 'guaranteed' }]);
});

test('a daily maximum bounds what is available: the middle, both ends, each day, and what management is told', async () => {
  const bounds = { mode: 'even', velocity: 1, finish_early_pct: 0, counting_basis: 'ad_delivered' } as const;
  const bounded = asked(1_400, { pacing: { ...bounds, time_zone: 'UTC', daily_max: 50 } });
  const { available, by_day: byDay } = await forecastOf({ kind: 'availability', window: week, line_item: bounded });
  for (const { p90 } of byDay) expect(p90).toBeLessThanOrEqual(50);
  // Of the days on which the week begins and ends there may be an hour.
  const [least, most] = [50 * 6, 50 * byDay.length];
  const { p10, p50, p90 } = available!;
  expect(p50).toBeGreaterThanOrEqual(least);
  for (const end of [p10, p50, p90]) expect(end).toBeLessThanOrEqual(most);
  const lineItem = Buffer.from(JSON.stringify(bounded));
  const found = await world.clientAs('management').checkAvailability({ workspaceId: 'ws_1', lineItem }, { deadlineMs });
  for (const units of [found.available, found.nearest]) {
    expect(Number(units)).toBeGreaterThanOrEqual(least);
    expect(Number(units)).toBeLessThanOrEqual(most);
  }
});

test('delivery tells for each line item what it will have, and what speaks against one that ends short', async () => {
  const [small, large] = [guaranteed(300, [1, 8]), guaranteed(90_000, [1, 8])];
  sell([small, large]);
  const result = await forecastOf({ kind: 'delivery', window: week });
  const of = (line: PlanLineItem) => result.line_items.find((one) => one.line_item_id === line.line_item_id)!;
  expect(result.line_items).toHaveLength(2);
  expect(of(large).p50).toBeLessThan(2_000);
  expect(of(large).verdict).toBeDefined();
  expect(of(small).by_day!.length).toBeGreaterThan(0);
  expect(
    (await forecastOf({ kind: 'delivery', window: week, line_item_ids: [small.line_item_id] })).line_items,
  ).toHaveLength(1);
});

test('management is answered within the deadline: so much is left, by that version of the bookings; without facts it is told so', async () => {
  const { checkAvailability } = world.clientAs('management');
  const check = (line: PlanLineItem) =>
    checkAvailability({ workspaceId: 'ws_1', lineItem: Buffer.from(JSON.stringify(line)) }, { deadlineMs });
  sell([guaranteed(700, [1, 8])]);
  const found = await check(asked(100));
  expectNear(Number(found.available), 700, 0.25);
  expect(found).toMatchObject({ bookingVersion: BigInt(world.bookingVersion), learning: false });
  const targeting = { ...anyTargeting, countries: { include: ['AT'], exclude: [] } };
  const line = Buffer.from(JSON.stringify(asked(100, { targeting })));
  world.plays = [];
  expect(await checkAvailability({ workspaceId: 'ws_3', lineItem: line }, { deadlineMs })).toMatchObject({
    ...{ learning: true, capacity: 0n, available: 0n },
  });
  await expect(
    checkAvailability({ workspaceId: 'ws_3', lineItem: Buffer.from('{}') }, { deadlineMs }),
  ).rejects.toMatchObject({ code: 'validation_failed' });
});

test('management is told which breaks of a day at least a line item fits, why not the others, and who has slots of those', async () => {
  const { explainFit } = world.clientAs('management');
  const nowMs = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const winner = guaranteed(700, [-1, 8]);
  sell([winner]);
  world.plays = [
    ...evenPlays(20, 100, { weight: 2, lineItemIds: [winner.line_item_id] }),
    ...evenPlays(20, 50, { weight: 2, country: 'AT' }),
    ...evenPlays(20, 50, { country: 'other' }),
  ].toSorted((a, b) => Number(a.atMs - b.atMs));
  const targeting = { ...anyTargeting, countries: { include: ['DE'], exclude: [] } };
  const lineItem = Buffer.from(JSON.stringify(asked(100, { targeting })));
  const range = { fromMs: BigInt(nowMs - 3_600_000), toMs: BigInt(nowMs) };
  const found = await explainFit({ workspaceId: 'ws_fit', lineItem, ...range }, { deadlineMs });
  expect(found).toEqual({
    ...{ fromMs: BigInt(nowMs - 24 * 3_600_000), toMs: BigInt(nowMs), rows: 200, breaks: 350n, fits: 200n },
    stages: [{ code: 'targeting_country', breaks: 150n }],
    winners: [{ lineItemId: winner.line_item_id, slots: 200n }],
    rareValuesHidden: false,
  });
  const long = { fromMs: BigInt(nowMs - 32 * 24 * 3_600_000), toMs: BigInt(nowMs) };
  for (const wrong of [long, { fromMs: 2n, toMs: 1n }])
    await expect(explainFit({ workspaceId: 'ws_fit', lineItem, ...wrong }, { deadlineMs })).rejects.toMatchObject({
      code: 'validation_failed',
    });
});

test('the operator is told how good forecasts of the last weeks were, beside two simple ones; nobody else is', async () => {
  world.plays = evenPlays(63, 200);
  const request = { workspaceId: 'ws_backtest', weeks: 2 };
  const { historyDays, rows } = await world.clientAs('operator').backtest(request, { deadlineMs });
  expect(historyDays).toBe(63);
  expect(rows.map(({ kind, horizonDays, forecasts }) => [kind, horizonDays, forecasts])).toEqual([
    ['podcast', 7, 2],
    ['podcast', 28, 2],
  ]);
  for (const { ours, weekdayMean, lastWeek } of rows)
    for (const { wmape } of [ours!, weekdayMean!, lastWeek!]) expect(wmape).toBeLessThan(0.05);
  await expect(world.clientAs('management').backtest(request, { deadlineMs })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(world.clientAs('operator').backtest({ ...request, weeks: 9 }, { deadlineMs })).rejects.toMatchObject({
    code: 'validation_failed',
  });
});

/** What management is told of a line item in a workspace of its own. */
let workspaces = 10;
const checked = (line: PlanLineItem) =>
  world
    .clientAs('management')
    .checkAvailability(
      { workspaceId: `ws_${workspaces++}`, lineItem: Buffer.from(JSON.stringify(line)) },
      { deadlineMs },
    );

test('with facts enough, a break that no episode has is refused at any quantity, not taken for unknown', async () => {
  expect(await checked(asked(1_000_000, { break_positions: ['post'] }))).toMatchObject({
    ...{ learning: false, capacity: 0n, available: 0n, nearest: 0n },
  });
  // A podcast that nobody has played yet is unknown.
  const targeting = { ...anyTargeting, podcasts: { include: ['pod_new'], exclude: [] } };
  expect(await checked(asked(1_000_000, { targeting }))).toMatchObject({ learning: true });
});

test('values that the sample hides are unknown up to what they could be at most; excluding one hides nothing', async () => {
  world.plays = [...plays, ...evenPlays(35, 50, { country: 'other', app: 'other' })].sort((a, b) =>
    Number(a.atMs - b.atMs),
  );
  const from = (include: string[]) => ({ ...anyTargeting, countries: { include, exclude: [] } });
  expect(await checked(asked(100, { targeting: from(['AT']) }))).toMatchObject({ learning: true, available: 0n });
  const refused = await checked(asked(1_000, { targeting: from(['AT']) }));
  expect(refused).toMatchObject({ learning: false, available: 0n });
  expectNear(Number(refused.nearest), 350, 0.25);
  const without = { ...anyTargeting, apps: { include: [], exclude: ['Nobody has it'] } };
  const all = await checked(asked(1_000_000, { targeting: without }));
  expect(all).toMatchObject({ learning: false });
  expectNear(Number(all.available), 1_750, 0.2);
});

test('values that the sample hides are sold once: what others were promised of them is not there for one more', async () => {
  world.plays = [...plays, ...evenPlays(35, 50, { country: 'other' })].sort((a, b) => Number(a.atMs - b.atMs));
  const from = (include: string[]) => ({ targeting: { ...anyTargeting, countries: { include, exclude: [] } } });
  const sold = [guaranteed(200, [1, 8], from(['CH'])), guaranteed(100, [1, 8], from(['LI']))];
  world.plan = planOf([...sold, guaranteed(200, [1, 8], from(['DE']))]);
  expect(await checked(asked(20, from(['AT'])))).toMatchObject({ learning: true });
  const refused = await checked(asked(300, from(['AT'])));
  expect(refused).toMatchObject({ learning: false, available: 0n });
  expect(Number(refused.nearest)).toBeLessThan(120);
});

test('a modifier that raises traffic raises forecasts and sells nothing; one that lowers it counts in both', async () => {
  const ahead = { fromMs: BigInt(Date.now()), toMs: BigInt(Date.now() + 20 * 86_400_000), podcastIds: [] };
  const modified = async (factor: number) => {
    world.modifiers = [{ trafficModifierId: `tmf_${'1'.repeat(26)}`, factor, ...ahead }];
    return Number((await checked(asked(100))).available);
  };
  expectNear(await modified(100), 1_400, 0.2);
  const { capacity } = await forecastOf({ kind: 'traffic', window: week });
  expect(capacity!.p50).toBeGreaterThan(100_000);
  expectNear(await modified(0.5), 700, 0.2);
});

test('what a delivering line item has had is its own, in a forecast of it as in the check when it is sold', async () => {
  const delivering = guaranteed(1_000, [-3, 7]);
  sell([delivering]);
  world.committed = [{ lineItemId: delivering.line_item_id, units: 600, deliveryRate: 1 }];
  const told = Number((await checked(delivering)).available);
  const { available } = await forecastOf({
    kind: 'availability',
    window: delivering.window,
    line_item: delivering,
  });
  expectNear(told, 2_000, 0.2);
  expectNear(available!.p50, told, 0.1);
});

test('a window of thousands of years costs no more than one of a year, and what lies years ahead is not sold', async () => {
  const startedMs = performance.now();
  const far = { start: '2400-01-01T00:00:00.000Z', end: '9999-01-01T00:00:00.000Z' };
  expect(await checked(asked(100, { window: far }))).toMatchObject({ learning: false, available: 0n });
  const long = await checked(asked(100, { window: { start: week.start, end: far.end } }));
  expectNear(Number(long.available), 366 * 200, 0.2);
  expect(performance.now() - startedMs).toBeLessThan(60_000);
});

const sponsorship = (share: number, given: Partial<PlanLineItem> = {}) =>
  asked(undefined, { type: 'sponsorship', goal: { unit: 'share_pct', quantity: share }, ...given });

test('a sponsorship hears which share others have of its breaks, and which promised goals it would leave short', async () => {
  const promised = guaranteed(1_200, [1, 8]);
  sell([promised, sponsorship(10, { line_item_id: newId('li') })]);
  const found = await checked(sponsorship(60));
  expect(found).toMatchObject({ shareTakenPct: 10, learning: false });
  const loses = ({ contending }: typeof found) =>
    Number(contending.find(({ lineItemId }) => lineItemId === promised.line_item_id)?.loses ?? 0);
  // Of 1,400 breaks 1,200 are promised and 840 asked for.
  expectNear(loses(found), 700, 0.25);
  expect(loses(await checked(sponsorship(3)))).toBe(0);
  const elsewhere = { ...anyTargeting, countries: { include: ['AT'], exclude: [] } };
  expect(await checked(sponsorship(60, { targeting: elsewhere }))).toMatchObject({ shareTakenPct: 0, contending: [] });
  const alone = await checked(asked(undefined, { type: 'exclusive' }));
  expect(alone).toMatchObject({ shareTakenPct: 10 });
  expectNear(loses(alone), 1_200, 0.2);
});

test('a second question about the same bookings is answered from what the first one decided', async () => {
  sell(Array.from({ length: 40 }, () => guaranteed(20, [1, 8])));
  const check = (line: PlanLineItem) =>
    world
      .clientAs('management')
      .checkAvailability({ workspaceId: 'ws_twice', lineItem: Buffer.from(JSON.stringify(line)) }, { deadlineMs });
  const first = await check(asked(100));
  world.committed = [{ lineItemId: world.plan.line_items[0]!.line_item_id, units: 20, deliveryRate: 0.01 }];
  // What line items have had meanwhile is not asked for again within minutes; what is sold is.
  expect(await check(asked(100))).toEqual(first);
  sell([]);
  expect(Number((await check(asked(100))).available)).toBeGreaterThan(Number(first.available));
});

test('what is sold between two questions is gone for the second, and what has ended is there again', async () => {
  const ask = async () => {
    const line = Buffer.from(JSON.stringify(asked(100)));
    const { available } = await world
      .clientAs('management')
      .checkAvailability({ workspaceId: 'ws_sales', lineItem: line }, { deadlineMs });
    return Number(available);
  };
  expectNear(await ask(), 1_400, 0.2);
  sell([guaranteed(700, [1, 8])]);
  expectNear(await ask(), 700, 0.25);
  world.plan = planOf([]);
  world.bookingVersion++;
  expectNear(await ask(), 1_400, 0.2);
});

test('what is sold after a question is read before the next one', async () => {
  const { checkAvailability } = world.clientAs('management');
  const request = { workspaceId: 'ws_ahead', lineItem: Buffer.from(JSON.stringify(asked(100))) };
  await checkAvailability(request, { deadlineMs });
  sell([guaranteed(700, [1, 8])]);
  const digest = `${world.bookingVersion}`.padStart(64, '0');
  // The forecaster has read a plan that it knows: the last look finds nothing to make.
  await until(() => world.knownDigests.includes(`ws_ahead ${digest}`));
  expectNear(Number((await checkAvailability(request, { deadlineMs })).available), 700, 0.25);
});

test('while a workspace is read others are answered, and who leaves meanwhile is forgotten', async () => {
  const held = Promise.withResolvers<void>();
  world.beforeSample = () => held.promise;
  const reads = world.sampleReads;
  const left = new AbortController();
  const { checkAvailability } = world.clientAs('management');
  const request = { workspaceId: 'ws_slow', lineItem: Buffer.from(JSON.stringify(asked(100))) };
  const gone = checkAvailability(request, { deadlineMs, signal: left.signal }).catch(() => 'gone');
  await until(() => world.sampleReads > reads);
  world.beforeSample = async () => undefined;
  expect(await checked(asked(100))).toMatchObject({ learning: false });
  left.abort();
  expect(await gone).toBe('gone');
  held.resolve();
  expect(await checkAvailability(request, { deadlineMs })).toMatchObject({ learning: false });
});
