import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { Window } from '@longwave/rpc/audience';
import { until } from '@longwave/test-kit';
import { startClock } from '../src/background/clock.ts';
import { dueTasks } from '../src/due-tasks.ts';
import { createCountConfirmed, goalBasis, type CountConfirmed } from '../src/advertising/line-items/count-confirmed.ts';
import { reachGoals } from '../src/advertising/line-items/flight-tasks.ts';
import { makegoodLine, scheduledFor, stoppedLineItem } from './_examples-makegoods.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const cause = 'The customer asked for it.';

function start(countConfirmed: CountConfirmed = async (_workspaceId, id) => management.delivered.get(id) ?? 0) {
  const { pool, execute, clock } = management;
  const tasks = [...dueTasks, reachGoals(countConfirmed)];
  return startClock({ pool, execute, clock, tasks, everyMs: 20, onError: () => undefined });
}

async function read(id: string): Promise<ResourceView> {
  return (await management.pool.query<ResourceView>('select * from resource where id = $1', [id])).rows[0]!;
}
const untilState = (id: string, state: string) =>
  until(`${state} of ${id}`, () => read(id), { holds: (row) => row.lifecycle_state === state });
const instant = (inMs: number) => new Date(management.clock().getTime() + inMs).toISOString();
const opensIn = (ms: number, forMs = 100 * hour) => ({ window: { start: instant(ms), end: instant(ms + forMs) } });
/** Sends as an operator, whose commands need no review. */
const send = (
  world: World,
  command: Parameters<World['send']>[0],
  lineItem: ResourceView,
  changes: object = { cause },
) => world.send(command, lineItem, changes, service('operator'));
const refused = { code: 'state_not_allowed', status: 422 };

test('a flight starts when its window opens, its campaign is active and a published plan in effect contains it', async () => {
  const world = createWorld(management);
  const one = await world.booked(opensIn(hour));
  const other = await world.booked(opensIn(hour));
  const paused = await world.booked(opensIn(hour));
  await world.send('campaign.pause', paused.campaign, { cause });
  await world.planned(paused.lineItem.id);
  await world.planned(one.lineItem.id);
  for (const { lineItem } of [one, other, paused])
    await expect(world.send('line_item.start_flight', lineItem, {}, service('management'))).rejects.toMatchObject(
      refused,
    );
  await using _clock = start();
  expect((await read(one.lineItem.id)).lifecycle_state).toBe('booked');
  management.aheadMs += hour + 1000;
  await untilState(one.lineItem.id, 'delivering');
  for (const { lineItem } of [other, paused]) {
    await expect(world.send('line_item.start_flight', lineItem, {}, service('management'))).rejects.toMatchObject(
      refused,
    );
    expect((await read(lineItem.id)).lifecycle_state).toBe('booked');
  }
  await world.planned(other.lineItem.id);
  await untilState(other.lineItem.id, 'delivering');
});

test('a flight ends with its window; with auto_extend and an open goal it goes on until the goal, or as long as the campaign', async () => {
  const world = createWorld(management);
  const short = opensIn(-hour, 2 * hour);
  const plain = await world.delivering(short);
  const fulfilled = await world.delivering({ ...short, auto_extend: true });
  const late = await world.delivering({ ...short, auto_extend: true });
  const never = await world.delivering({ ...short, auto_extend: true });
  management.delivered.set(fulfilled.lineItem.id, 10);
  management.aheadMs += 2 * hour;
  await using _clock = start();
  expect((await untilState(plain.lineItem.id, 'completed')).attributes['delivered']).toBeUndefined();
  expect((await untilState(fulfilled.lineItem.id, 'completed')).attributes['delivered']).toBe(10);
  for (const { lineItem } of [late, never]) await untilState(lineItem.id, 'delivery_extended');
  management.delivered.set(late.lineItem.id, 11);
  management.aheadMs += 16_000;
  expect((await untilState(late.lineItem.id, 'completed')).attributes['delivered']).toBe(11);
  expect((await read(never.lineItem.id)).lifecycle_state).toBe('delivery_extended');
  management.aheadMs += 2000 * hour;
  await untilState(never.lineItem.id, 'completed');
});

test('a flight is completed when its goal is reached, before its window ends', async () => {
  const world = createWorld(management);
  const { lineItem } = await world.delivering();
  await expect(
    world.send('line_item.complete', lineItem, { delivered: 9 }, service('management')),
  ).rejects.toMatchObject(refused);
  management.delivered.set(lineItem.id, 10);
  await using _clock = start();
  expect((await untilState(lineItem.id, 'completed')).attributes['delivered']).toBe(10);
});

/** What the sink counts: each serving delivered in two downloads. */
const sinkOf = (confirmed: bigint): CountConfirmed =>
  createCountConfirmed(
    async () => ({
      ...{ decided: confirmed + 5n, served: confirmed + 1n, confirmed, delivered: 2n * confirmed, billable: confirmed },
      clientEvents: [
        { event: 'start', count: confirmed - 1n, excess: 50n },
        { event: 'complete', count: confirmed - 2n, excess: 50n },
      ],
      ...{ methodologyVersion: 'method', completeUntilMs: 0n, window: Window.CALENDAR_UTC, restated: [] },
    }),
    management.clock,
  );

test('a goal is reached by servings, not by the downloads of several listeners behind one address', async () => {
  const world = createWorld(management);
  const { lineItem } = await world.delivering();
  let asked = 0;
  {
    await using _clock = start(async (...of) => {
      asked++;
      return sinkOf(9n)(...of);
    });
    await until(() => {
      management.aheadMs += 16_000;
      return asked >= 2;
    });
  }
  expect((await read(lineItem.id)).lifecycle_state).toBe('delivering');
  await using _clock = start(sinkOf(10n));
  expect((await untilState(lineItem.id, 'completed')).attributes['delivered']).toBe(10);
});

test.each([
  ['reserved', 15],
  ['served_bytes', 11],
  ['ad_delivered', 10],
  ['client_event', 9],
] as const)('the goal of a line item that is billed by %s counts that', async (counting_basis, expected) => {
  const world = createWorld(management);
  const { lineItem } = await world.delivering({ counting_basis, goal: { unit: 'impressions', quantity: expected } });
  await using _clock = start(sinkOf(10n));
  expect((await untilState(lineItem.id, 'completed')).attributes['delivered']).toBe(expected);
});

test('the goal of completes counts complete reports', async () => {
  expect(
    await sinkOf(10n)(
      'ws_1',
      'li_1',
      goalBasis({ goal: { unit: 'completes', quantity: 8 }, counting_basis: 'client_event' }),
    ),
  ).toBe(8);
});

test('flights go on while delivered ads cannot be counted', async () => {
  const world = createWorld(management);
  const { lineItem } = await world.delivering();
  let asked = 0;
  const episode = await world.dueEpisode();
  await using _clock = start(async () => {
    asked++;
    throw new Error('the sink is away');
  });
  await untilState(episode.id, 'published');
  while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
  expect((await read(lineItem.id)).lifecycle_state).toBe('delivering');
});

test('a reservation expires when its time is over, and a released one does not', async () => {
  const world = createWorld(management);
  const [kept, released] = [await world.reservedLineItem(), await world.reservedLineItem()];
  const approved = await world.send('line_item.release_reservation', released, {});
  expect(approved.attributes['reserved_until']).toBeUndefined();
  await expect(world.send('line_item.expire_reservation', kept, {}, service('management'))).rejects.toMatchObject(
    refused,
  );
  await expect(world.send('line_item.reserve', approved, { expires_at: instant(-1000) })).rejects.toMatchObject({
    code: 'validation_failed',
  });
  management.aheadMs += hour + 1000;
  await using _clock = start();
  await untilState(kept.id, 'reservation_expired');
  expect((await read(released.id)).lifecycle_state).toBe('approved');
});

test('an amendment takes effect at its time, not before; a newer one replaces a pending one', async () => {
  const world = createWorld(management);
  const { lineItem } = await world.booked();
  const goal = (quantity: number) => ({ goal: { unit: 'impressions', quantity } });
  const now = await world.send('line_item.amend', lineItem, goal(20));
  expect(now.attributes).toMatchObject(goal(20));
  const first = await world.send('line_item.amend', now, { ...goal(30), effective_at: instant(hour) });
  const second = await world.send('line_item.amend', first, { ...goal(40), effective_at: instant(2 * hour) });
  expect(second.attributes).toMatchObject(goal(20));
  await expect(world.send('line_item.amend', second, { effective_at: instant(hour) })).rejects.toMatchObject({
    code: 'validation_failed',
  });
  await using _clock = start();
  management.aheadMs += hour + 1000;
  await expect(world.send('line_item.apply_amendment', second, {}, service('management'))).rejects.toMatchObject(
    refused,
  );
  management.aheadMs += hour;
  for (;;) {
    const { attributes } = await read(lineItem.id);
    if (attributes['amendment'] !== undefined) continue;
    expect(attributes).toMatchObject(goal(40));
    break;
  }
});

test('a resumed line item returns to the state before its pause, booked or delivering', async () => {
  const world = createWorld(management);
  const { lineItem } = await world.booked();
  const { lineItem: flying } = await world.delivering();
  for (const before of [lineItem, flying]) {
    const paused = await send(world, 'line_item.pause', before);
    expect(paused).toMatchObject({ lifecycle_state: 'paused', state_reason: cause });
    const resumed = await send(world, 'line_item.resume', paused);
    expect(resumed.lifecycle_state).toBe(before.lifecycle_state);
    expect(resumed.attributes['paused_from']).toBeUndefined();
  }
});

test('nothing resumes after its window', async () => {
  const world = createWorld(management);
  const paused = await send(world, 'line_item.pause', (await world.delivering(opensIn(-hour, 2 * hour))).lineItem);
  management.aheadMs += 3 * hour;
  await expect(send(world, 'line_item.resume', paused)).rejects.toMatchObject(refused);
  const extended = await send(world, 'line_item.extend', paused, { end: instant(hour), cause });
  await expect(send(world, 'line_item.extend', extended, { end: instant(-1), cause })).rejects.toMatchObject({
    code: 'validation_failed',
  });
  expect((await send(world, 'line_item.resume', extended)).lifecycle_state).toBe('delivering');
});

test('before its start a line item is cancelled, afterwards stopped; one that has delivered is never cancelled', async () => {
  const world = createWorld(management);
  const early = await send(world, 'line_item.pause', (await world.booked(opensIn(hour))).lineItem);
  await expect(send(world, 'line_item.stop', early)).rejects.toMatchObject(refused);
  expect((await send(world, 'line_item.cancel', early)).lifecycle_state).toBe('cancelled');

  const begun = await send(world, 'line_item.pause', (await world.booked()).lineItem);
  await expect(send(world, 'line_item.cancel', begun)).rejects.toMatchObject(refused);
  expect(await send(world, 'line_item.stop', begun)).toMatchObject({ lifecycle_state: 'stopped', state_reason: cause });

  const { lineItem: served } = await world.booked();
  management.delivered.set(served.id, 1);
  await expect(send(world, 'line_item.cancel', served)).rejects.toMatchObject(refused);
});

test('only house line items and makegoods are booked without a price', async () => {
  const world = createWorld(management);
  const free = { rate: { model: 'none' } };
  await expect(world.booked(free)).rejects.toMatchObject({ code: 'line_item_not_bookable' });
  const house = await world.booked({ ...free, type: 'house', goal: { unit: 'unlimited' } });
  expect(house.lineItem).toMatchObject({ lifecycle_state: 'booked' });
  const short = await stoppedLineItem(world);
  const { lineItem } = await world.sold(await makegoodLine(world, await scheduledFor(world, short, 100), short));
  expect(lineItem).toMatchObject({ lifecycle_state: 'booked', links: { makegood_of: short.id } });
});

test.each([
  ['exclusive', 'impressions'],
  ['sponsorship', 'impressions'],
  ['guaranteed', 'unlimited'],
  ['non_guaranteed', 'share_pct'],
  ['house', 'share_pct'],
])('a line item of type %s is not bought by %s', async (type, unit) => {
  const world = createWorld(management);
  const goal = { unit, ...(unit !== 'unlimited' && { quantity: 50 }) };
  await expect(world.booked({ type, goal })).rejects.toMatchObject({
    context: { errors: [{ path: '/changes/goal/unit', code: 'wrong_unit' }] },
  });
});

test('sellers who amend and book in one campaign at the same time never sell more than its budget, and wait for each other', async () => {
  const world = createWorld(management);
  const flat = (units: number) => ({
    rate: { model: 'flat', price: { amount_micros: String(units * 1_000_000), currency: 'EUR' } },
  });
  const budget = flat(700).rate.price;
  const campaign = await world.send('campaign.revise', await world.activeCampaign(), { budget });
  const sold = [];
  for (let n = 0; n < 3; n++) sold.push((await world.booked(flat(100), campaign)).lineItem);
  const draft = await world.send('line_item.create', null, { ...world.lineItemChanges(campaign.id), ...flat(300) });
  const assignment = await world.assign(draft, await world.creativeOf(draft));
  await world.send('creative_assignment.activate', assignment, {});
  const approved = await world.send('line_item.submit', draft, {});
  const held = await management.pool.connect();
  await held.query('begin');
  await held.query('select from resource where id = $1 for update', [campaign.id]);
  const answers = Promise.allSettled([
    ...sold.map((lineItem) => world.send('line_item.amend', lineItem, flat(300))),
    world.send('line_item.book', approved, {}),
  ]);
  const waiting = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await management.pool.query<{ n: number }>(waiting)).rows[0]!.n === 4);
  await held.query('commit');
  held.release();
  const refusals = (await answers).flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refusals.length).toBeGreaterThanOrEqual(2);
  expect(new Set(refusals)).toEqual(new Set(['line_item_not_bookable']));
});

test('contradicting windows, ends and daily bounds are refused with their field', async () => {
  const world = createWorld(management);
  const pointers = (command: Promise<unknown>) =>
    command.then(
      () => 'accepted',
      (error: { context?: { errors: { path: string; code: string }[] }; code: string }) =>
        error.context?.errors?.map(({ path, code }) => `${path} ${code}`).join() ?? error.code,
    );
  const outside = { window: { start: instant(1001 * hour), end: instant(1002 * hour) } };
  const create = (changes: object) => pointers(world.booked(changes as Record<string, unknown>));
  expect(await create(outside)).toBe('/changes/window outside_campaign');
  expect(await create({ goal: { unit: 'impressions', quantity: 10, daily_min: 11 } })).toBe(
    '/changes/goal/daily_min above_goal',
  );
  const perCompletion = { model: 'cpcv', price: { amount_micros: '40000', currency: 'EUR' } };
  expect(await create({ type: 'non_guaranteed', rate: perCompletion })).toBe('/changes/rate/model wrong_model');
  const draft = await world.lineItem();
  expect(await pointers(world.send('line_item.revise', draft, outside))).toBe('/changes/window outside_campaign');
  const { lineItem } = await world.booked(opensIn(-hour, 2000 * hour));
  expect(await pointers(world.send('line_item.amend', lineItem, outside))).toBe('/changes/window outside_campaign');
  const over = { window: { start: instant(-2 * hour), end: instant(-hour) } };
  expect(await pointers(world.send('line_item.amend', lineItem, over))).toBe('/changes/window/end not_future');
  expect(await pointers(world.send('line_item.extend', lineItem, { end: instant(3000 * hour), cause }))).toBe(
    '/changes/end outside_campaign',
  );
  const approved = await world.approvedLineItem();
  management.aheadMs += 25 * hour;
  expect(await pointers(world.send('line_item.book', approved, {}))).toBe('line_item_not_bookable');
});

test('targeting names only what this workspace has, and either whole podcasts or sets of episodes', async () => {
  const [world, stranger] = [createWorld(management), createWorld(management)];
  const episode = await world.episode();
  const draft = await world.send('inventory_unit.create', null, {
    kind: 'episode_set',
    name: 'The first one',
    source_ref: { podcast_id: episode.attributes['podcast_id'], episode_ids: [episode.id] },
  });
  const set = await world.send('inventory_unit.activate', draft, {});
  const foreign = await stranger.show();
  const refusal = (targeting: object) =>
    world.booked({ targeting }).then(
      () => 'accepted',
      (error: { context: { errors: { path: string; code: string }[] } }) => error.context.errors[0],
    );
  expect(await refusal({ inventory: { exclude: [foreign.id] } })).toMatchObject({
    path: '/changes/targeting/inventory/exclude',
    code: 'link_not_found',
  });
  expect(await refusal({ inventory: { include: [set.id, (await world.show()).id] } })).toMatchObject({
    path: '/changes/targeting/inventory/include',
    code: 'mixed_inventory',
  });
  expect(await refusal({ inventory: { include: [set.id] } })).toBe('accepted');
});

test('due line items are found by indexes, however many there are', async () => {
  const client = await management.pool.connect();
  try {
    await client.query('begin');
    await client.query('set local enable_seqscan = off');
    const asks = {
      resource_booked_line_item: `lifecycle_state = 'booked' and instant_of(attributes #>> '{window,start}') <= now()`,
      resource_delivering_line_item: `lifecycle_state = 'delivering' and instant_of(attributes #>> '{window,end}') <= now()`,
      resource_reserved_line_item: `lifecycle_state = 'reserved' and instant_of(attributes ->> 'reserved_until') <= now()`,
      resource_amended_line_item: `lifecycle_state in ('booked', 'delivering', 'delivery_extended', 'paused')
        and instant_of(attributes #>> '{amendment,effective_at}') <= now()`,
    };
    for (const [index, condition] of Object.entries(asks)) {
      const { rows } = await client.query(
        `explain select id from resource where resource_type = 'line_items' and ${condition}`,
      );
      expect(JSON.stringify(rows)).toContain(index);
    }
  } finally {
    await client.query('rollback');
    client.release();
  }
});
