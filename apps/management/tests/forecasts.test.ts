import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findResource } from '@longwave/command-pipeline';
import {
  changePlan,
  forecastJobInputs,
  planChangesSchema,
  servingPlanSchema,
  type ResourceView,
  type ServingPlanDocument,
} from '@longwave/events';
import type { BookingHead, ReadBookingResponse } from '@longwave/rpc/forecast';
import { transaction } from '@longwave/postgres';
import { listSellers } from '../src/commerce/forecasts/list-sellers.ts';
import { createSendBooking, type SendBooking } from '../src/commerce/forecasts/send-booking.ts';
import { readPlanLine } from '../src/commerce/forecasts/read-booked-plan.ts';
import { availabilityOf, forecastResult } from './_examples-forecasts.ts';
import { startTestForecaster } from './_forecaster.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

interface Booking {
  readonly head: BookingHead;
  readonly plan: ServingPlanDocument | undefined;
}

/**
 * Reads the booking that the forecaster is told of a workspace.
 * @param known what it was told before; the plan is absent where it is the same
 * @param send which may have kept the plan of an earlier question; absent: knows nothing
 */
async function bookingOf(
  w: World,
  known?: Booking,
  send: SendBooking = createSendBooking(management.pool, management.clock),
): Promise<Booking> {
  const messages: ReadBookingResponse[] = [];
  const knownDigest = known?.head.planDigest ?? '';
  await send({ workspaceId: w.workspaceId, knownDigest }, async (message) => void messages.push(message));
  const [head, ...pieces] = messages.map(({ content }) => content!.value);
  const bytes = Buffer.concat(pieces as Uint8Array[]);
  const sent = (): unknown => JSON.parse(bytes.toString());
  const last = messages.at(-1)!.content!.$case;
  const plan =
    last === 'plan'
      ? servingPlanSchema.parse(sent())
      : last === 'changes'
        ? changePlan(known!.plan!, planChangesSchema.parse(sent()))
        : undefined;
  return { head: head as BookingHead, plan };
}

const jobInputs = async (id: string) =>
  (await management.pool.query<{ input: unknown }>('select input from job where subject_id = $1', [id])).rows.map(
    ({ input }) => forecastJobInputs.run_forecast.parse(input),
  );

test('a request queues one job with the line item that is thought of, as a plan would have it', async () => {
  const w = createWorld(management);
  const podcast = await w.podcast();
  const { id } = await w.send(
    'forecast.request',
    null,
    availabilityOf(w, { podcasts: { include: [podcast.id] }, countries: { include: ['DE'] } }),
  );
  const [input, ...more] = await jobInputs(id);
  expect(more).toEqual([]);
  expect(input).toMatchObject({
    kind: 'availability',
    line_item: {
      ...{ type: 'guaranteed', goal: { unit: 'impressions', quantity: 200_000 }, break_positions: ['mid'] },
      targeting: { podcasts: { include: [podcast.id] }, countries: { include: ['DE'] } },
      creatives: [{ media: [{ stream_format: 'any', duration_ms: 30_000 }] }],
    },
  });
});

test('each kind of forecast is asked about what it can say, over at most a year', async () => {
  const w = createWorld(management);
  const line = await w.lineItem();
  const { window, prospective } = availabilityOf(w);
  const far = { start: window.start, end: new Date(w.now().getTime() + 400 * 24 * hour).toISOString() };
  const past = { start: '2020-01-01T00:00:00.000Z', end: '2020-02-01T00:00:00.000Z' };
  for (const changes of [
    { kind: 'availability', window },
    { kind: 'availability', window, prospective, line_item_ids: [line.id] },
    { kind: 'traffic', window, line_item_ids: [line.id] },
    { kind: 'delivery', window, prospective },
    { kind: 'traffic', window: far },
    { kind: 'traffic', window: past },
  ])
    await expect(w.send('forecast.request', null, changes)).rejects.toMatchObject({ code: 'validation_failed' });
  for (const changes of [
    { kind: 'traffic', window },
    { kind: 'traffic', window, prospective },
    { kind: 'delivery', window, line_item_ids: [line.id] },
  ])
    expect((await w.send('forecast.request', null, changes)).lifecycle_state).toBe('requested');
});

test('a fifth forecast that waits is refused; one that was cancelled, and whose job is gone, makes room', async () => {
  const w = createWorld(management);
  const request = () => w.send('forecast.request', null, availabilityOf(w));
  const [first] = [await request(), await request(), await request(), await request()];
  await expect(request()).rejects.toMatchObject({ code: 'rate_limited' });
  await w.send('forecast.cancel', first, {});
  await request();
  const { rows } = await management.pool.query('select state, stop_requested from job where subject_id = $1', [
    first.id,
  ]);
  expect(rows).toEqual([{ state: 'stopped', stop_requested: true }]);
});

test('a report under a lease that another worker has is refused, and a result expires after a day', async () => {
  const w = createWorld(management);
  const forecast = await w.send('forecast.request', null, availabilityOf(w));
  const lease = await w.lease('run_forecast', forecast.id);
  const begun = await w.send('forecast.start', forecast, {}, service('forecaster'), lease);
  const report = (under: object) => w.send('forecast.complete', begun, forecastResult(w), service('forecaster'), under);
  await expect(report({ ...lease, lease_id: 'lse_0' })).rejects.toMatchObject({ code: 'lease_lost' });
  const ready = await report(lease);
  expect(Date.parse(String(ready.attributes['expires_at'])) - w.now().getTime()).toBeGreaterThan(23 * hour);
  expect(ready.attributes['available']).toEqual({ p10: 80, p50: 100, p90: 120 });
});

test('what is sold is told as a plan: reserved and paused line items take part, drafts do not, and one without an ad has one of 30 s', async () => {
  const w = createWorld(management);
  await w.provisioned();
  const draft = await w.lineItem();
  const reserved = await w.reservedLineItem();
  const paused = await w.pausedLineItem();
  const told = await bookingOf(w);
  const { head, plan } = told;
  const ids = plan!.line_items.map(({ line_item_id: id }) => id);
  expect([ids.includes(draft.id), ids.includes(reserved.id), ids.includes(paused.id)]).toEqual([false, true, true]);
  expect(plan!.line_items.every(({ creatives }) => creatives.length === 1)).toBe(true);
  // A reader who has the plan gets the head alone.
  expect(await bookingOf(w, told)).toEqual({ head, plan: undefined });
  await transaction(management.pool, async (tx) => {
    const row = (await findResource(tx, w.workspaceId, 'line_items', draft.id))!;
    expect((await readPlanLine(tx, row, row.attributes, w.now()))?.creatives[0]?.media[0]).toMatchObject({
      ...{ stream_format: 'any', duration_ms: 30_000 },
    });
  });
});

test('a kept plan, whole or as what has changed, is the one that would be read anew, whatever changes it: any of its parts, the zone, or the time', async () => {
  const w = createWorld(management);
  const workspace = await w.workspace();
  const send = createSendBooking(management.pool, management.clock);
  const digests = new Set<string>();
  let reader: Booking | undefined;
  const expectSame = async () => {
    const [changed, kept, anew] = [
      await bookingOf(w, reader, send),
      await bookingOf(w, undefined, send),
      await bookingOf(w),
    ];
    expect(kept).toEqual(anew);
    expect({ ...changed, plan: changed.plan ?? reader?.plan }).toEqual(anew);
    reader = anew;
    digests.add(kept.head.planDigest);
    return anew.plan!.line_items;
  };
  await expectSame();
  const { campaign, creative } = await w.booked(w.shortFlight());
  await expectSame();
  const long = await w.booked(w.longFlight(), campaign);
  expect(await expectSame()).toHaveLength(2);
  await w.send('creative.suspend', creative, { cause: 'A claim is checked.' });
  await expectSame();
  const effective_at = new Date(w.now().getTime() + hour / 2).toISOString();
  const goal = { unit: 'impressions', quantity: 20 };
  const amended = await w.send('line_item.amend', long.lineItem, { goal, effective_at });
  await expectSame();
  const unit = await w.send('inventory_unit.create', null, {
    ...{ name: 'all', kind: 'network', source_ref: {} },
    min_cpm: { amount_micros: '1000000', currency: 'EUR' },
  });
  await w.send('inventory_unit.activate', unit, {});
  await expectSame();
  const separation_group = 'cars';
  const grouped = await w.send('campaign.revise', campaign, { separation_group });
  expect((await expectSame()).map((line) => line.separation_groups)).toEqual([['cars'], ['cars']]);
  w.ahead(hour + 1);
  expect((await expectSame()).map((line) => line.line_item_id)).toEqual([long.lineItem.id]);
  await w.send('line_item.pause', amended, { cause: 'It pauses.' });
  await expectSame();
  await w.send('campaign.cancel', grouped, { cause: 'The order ended.' });
  await expectSame();
  await w.send('workspace.configure', workspace, { time_zone: 'Europe/Berlin' });
  await expectSame();
  expect(digests.size).toBeGreaterThan(7);
});

test('a plan that is kept is not read again', async () => {
  const w = createWorld(management);
  await w.booked();
  const send = createSendBooking(management.pool, management.clock);
  const first = await bookingOf(w, undefined, send);
  await w.podcast();
  // No command does this: only what is read again would show it.
  await management.pool.query(
    `update resource set attributes = jsonb_set(attributes, '{priority}', '9')
     where workspace_id = $1 and resource_type = 'line_items'`,
    [w.workspaceId],
  );
  expect(await bookingOf(w, undefined, send)).toEqual(first);
  expect(await bookingOf(w)).not.toEqual(first);
});

test('with a real forecaster all that is available is sold, and no more', async () => {
  management.aheadMs = 0;
  await using forecaster = await startTestForecaster(management, 20);
  management.checkAvailability = forecaster.checkAvailability;
  try {
    const w = createWorld(management);
    const expires_at = new Date(w.now().getTime() + hour).toISOString();
    const reserve = async (quantity: number) =>
      w.send('line_item.reserve', await w.approvedLineItem({ goal: { unit: 'impressions', quantity } }), {
        expires_at,
      });
    const refused = await refusalOf(reserve(1_000_000));
    expect(refused.code).toBe('inventory_not_available');
    const { available, capacity } = refused.context.members as { available: number; capacity: number };
    // A day of 20 plays an hour is left of the window.
    expect(capacity).toBeGreaterThan(300);
    expect(capacity).toBeLessThan(700);
    const sold = await reserve(available);
    expect(sold).toMatchObject({ lifecycle_state: 'reserved', attributes: { availability: { available } } });
    expect(sold.attributes['availability']).not.toHaveProperty('learning');
    const over = await refusalOf(reserve(100));
    expect(over.code).toBe('inventory_not_available');
    expect((over.context.members as { available: number }).available).toBeLessThan(100);
  } finally {
    management.checkAvailability = undefined;
  }
});

test('the version of the bookings grows with everything that changes what is sold, and with nothing that is refused', async () => {
  const w = createWorld(management);
  const version = async () => Number((await bookingOf(w)).head.bookingVersion);
  const approved = await w.approvedLineItem();
  expect(await version()).toBe(0);
  const expires_at = new Date(w.now().getTime() + hour).toISOString();
  const reserved = await w.send('line_item.reserve', approved, { expires_at });
  expect(await version()).toBe(1);
  await expect(w.send('line_item.reserve', reserved, { expires_at })).rejects.toMatchObject({
    code: 'state_not_allowed',
  });
  expect(await version()).toBe(1);
  await w.send('line_item.release_reservation', reserved, {});
  expect(await version()).toBe(2);
});

test('a reservation of a time when little was known is checked again when it is booked', async () => {
  const w = createWorld(management);
  const nothing = { capacity: 0n, available: 0n, nearest: 0n };
  management.available = { ...nothing, learning: true };
  const reserved = await w.reservedLineItem();
  management.available = nothing;
  await expect(w.send('line_item.book', reserved, {})).rejects.toMatchObject({ code: 'inventory_not_available' });
  management.available = {};
  const { attributes } = await w.send('line_item.book', reserved, {});
  expect(attributes['availability']).not.toHaveProperty('learning');
});

test('modifiers of the workspace are told', async () => {
  const w = createWorld(management);
  const podcast = await w.podcast();
  const { window } = availabilityOf(w);
  const modifier = await w.send('traffic_modifier.create', null, {
    ...{ name: 'Christmas', window, factor: 1.2, scope: { kind: 'podcasts', podcast_ids: [podcast.id, podcast.id] } },
  });
  const { modifiers } = (await bookingOf(w)).head;
  expect(modifiers).toMatchObject([{ trafficModifierId: modifier.id, factor: 1.2, podcastIds: [podcast.id] }]);
  await w.send('traffic_modifier.retire', modifier, { cause: 'The fair is cancelled.' });
  expect((await bookingOf(w)).head.modifiers).toEqual([]);
});

test('a workspace has at most 50 modifiers at a time', async () => {
  const w = createWorld(management);
  const create = () => {
    const { window } = availabilityOf(w);
    return w.send('traffic_modifier.create', null, { name: 'Fair', window, factor: 1.1, scope: { kind: 'workspace' } });
  };
  const first = await create();
  for (let more = 1; more < 50; more++) await create();
  await expect(create()).rejects.toMatchObject({ code: 'validation_failed' });
  await w.send('traffic_modifier.retire', first, { cause: 'The fair is over.' });
  expect((await create()).lifecycle_state).toBe('active');
});

test('episodes that are scheduled, and those that came out in the last two days, are told with their time', async () => {
  const w = createWorld(management);
  const episode = await w.playableEpisode();
  const publish_at = new Date(w.now().getTime() + 24 * hour).toISOString();
  const told = async () => (await bookingOf(w)).head.releases;
  const scheduled = await w.send('episode.schedule', episode, { publish_at });
  const release = { episodeId: episode.id, podcastId: episode.attributes['podcast_id'] };
  expect(await told()).toEqual([{ ...release, publishAtMs: BigInt(Date.parse(publish_at)) }]);
  w.ahead(24 * hour);
  const { attributes } = await w.send('episode.publish', scheduled, {});
  expect(await told()).toEqual([{ ...release, publishAtMs: BigInt(Date.parse(String(attributes['published_at']))) }]);
  w.ahead(48 * hour + 1);
  expect(await told()).toEqual([]);
});

const flightOf = ({ attributes }: ResourceView) => {
  const { start, end } = attributes['window'] as { readonly start: string; readonly end: string };
  return { fromMs: BigInt(Date.parse(start)), toMs: BigInt(Date.parse(end)) };
};

test('the forecaster is told which flights may be sold next, those of the workspace that offered something last first; none is sold or over', async () => {
  const [before, w] = [createWorld(management), createWorld(management)];
  await before.approvedLineItem();
  const [sold, offered] = [await w.approvedLineItem(), await w.approvedLineItem()];
  const listAt = async (now: Date) => {
    const sellers = await listSellers(management.pool, now);
    return sellers.filter(({ workspaceId }) => [before.workspaceId, w.workspaceId].includes(workspaceId));
  };
  const both = await listAt(w.now());
  expect(both.map(({ workspaceId }) => workspaceId)).toEqual([w.workspaceId, before.workspaceId]);
  expect(both[0]!.flights).toContainEqual(flightOf(sold));
  const expires_at = new Date(w.now().getTime() + hour).toISOString();
  await w.send('line_item.reserve', sold, { expires_at });
  expect((await listAt(w.now()))[0]).toEqual({ workspaceId: w.workspaceId, flights: [flightOf(offered)] });
  const over = await listAt(new Date(Number(flightOf(offered).toMs)));
  expect(over).toEqual([{ workspaceId: w.workspaceId, flights: [] }]);
});

test('drafts of one workspace, however many, leave the others their place: of each the flights that were changed last are told', async () => {
  const [quiet, busy] = [createWorld(management), createWorld(management)];
  const offered = await quiet.approvedLineItem();
  const draft = await busy.lineItem();
  const columns = 'workspace_id, resource_type, version, lifecycle_state, digest, operation_id, created_at';
  await management.pool.query(
    `insert into resource (id, ${columns}, attributes, updated_at)
     select 'li_' || lpad(n::text, 26, '0'), ${columns}, jsonb_set(attributes, '{window,end}', to_jsonb($2::timestamptz + n * interval '1 hour')),
       updated_at + n * interval '1 ms'
     from resource, generate_series(1, 2100) n where id = $1`,
    [draft.id, new Date(Number(flightOf(draft).toMs))],
  );
  const sellers = await listSellers(management.pool, quiet.now());
  const flightsOf = (w: World) => sellers.find(({ workspaceId }) => workspaceId === w.workspaceId)?.flights;
  const { fromMs, toMs } = flightOf(draft);
  const last = Array.from({ length: 20 }, (_, at) => ({ fromMs, toMs: toMs + BigInt((2100 - at) * hour) }));
  expect(flightsOf(busy)).toEqual(last);
  expect(flightsOf(quiet)).toEqual([flightOf(offered)]);
});

test('of workspaces that offer nothing those that sold last are told, the last one first', async () => {
  const [first, second] = [createWorld(management), createWorld(management)];
  await management.pool.query(
    `insert into booking_version (workspace_id, version) select 'ws_' || lpad(n::text, 26, '0'), 1 from generate_series(1, 30) n`,
  );
  const sold = await first.reservedLineItem();
  await second.reservedLineItem();
  const over = new Date(Number(flightOf(sold).toMs) + 30 * 24 * hour);
  const lastTwo = async () =>
    (await listSellers(management.pool, over)).slice(0, 2).map(({ workspaceId }) => workspaceId);
  expect(await lastTwo()).toEqual([second.workspaceId, first.workspaceId]);
  first.ahead(1_000);
  await first.reservedLineItem();
  // A draft is no sale.
  second.ahead(1_000);
  await second.lineItem();
  expect(await lastTwo()).toEqual([first.workspaceId, second.workspaceId]);
});
