import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createTrackingCheckHandler } from '../src/advertising/trackers/check-tracking-endpoint.ts';
import { startJobRunner } from '../src/background/job-runner.ts';
import { until } from '@longwave/test-kit';
import { createReadTally } from '../src/advertising/trackers/tracker-tally-table.ts';
import { startTrackingWorld, trackerHosts, type TrackingWorld } from './_tracking.ts';
import { hour } from './_values.ts';

let tracking: TrackingWorld;
beforeAll(async () => {
  tracking = await startTrackingWorld();
});
afterAll(async () => tracking[Symbol.asyncDispose]());

/** What the tracker at a path has got, whatever its query. */
const calledAt = (path: string) => tracking.receiver.all().filter((each) => each.path.split('?')[0] === path);

test('a serving is told to each tracker in whose scope it lies once, although its delivery comes twice', async () => {
  const { world, campaign, creative, lineItem, serve, track } = await tracking.advertise();
  const scopes = [
    { campaign_id: undefined, advertiser_id: String(campaign.attributes['advertiser_id']) },
    {},
    { campaign_id: undefined, line_item_id: lineItem.id },
    { campaign_id: undefined, creative_id: creative.id },
  ];
  const tracked = [];
  for (const scope of scopes) tracked.push(await track(scope));
  const elsewhere = await track({ campaign_id: undefined, creative_id: (await world.creative()).id });
  const midpoint = await track({ events: ['midpoint'] });
  const servingId = serve();
  await tracking.collected();
  serve('impression', servingId);
  await tracking.collected();
  await until(async () => (await tracking.callsOf(servingId)).every(({ state }) => state === 'delivered'));
  expect(await tracking.callsOf(servingId)).toHaveLength(4);
  expect(tracked.map(({ path }) => calledAt(path).length)).toEqual([1, 1, 1, 1]);
  expect([elsewhere, midpoint].map(({ path }) => calledAt(path).length)).toEqual([0, 0]);
  serve('midpoint', servingId);
  await tracking.call(servingId, (row) => row.tracker_id.endsWith('midpoint') && row.state === 'delivered');
  expect(calledAt(midpoint.path)).toHaveLength(1);
});

test('trackers of a creative are called, each for its own event', async () => {
  const { creative, serve } = await tracking.advertise();
  const path = `/${newId('req')}`;
  await tracking.management.pool.query(
    `update resource set attributes = attributes || jsonb_build_object('trackers', $2::jsonb) where id = $1`,
    [
      creative.id,
      JSON.stringify([
        { event: 'impression', url_template: `${trackerHosts.good}${path}?seller` },
        { event: 'complete', url_template: `${trackerHosts.good}${path}?whole` },
      ]),
    ],
  );
  const servingId = serve('complete');
  await tracking.call(servingId, ({ state }) => state === 'delivered');
  expect(calledAt(path).map((each) => each.path)).toEqual([`${path}?whole`]);
});

test('a call has nothing of the listener: its headers are these, and macros about a person are not told', async () => {
  const { serve, track } = await tracking.advertise();
  const macros = [
    'CACHEBUSTING',
    'TIMESTAMP',
    'ADSERVINGID',
    'MEDIAPLAYHEAD',
    'BREAKPOSITION',
    'ADTYPE',
    'VASTVERSIONS',
  ];
  const personal = ['DEVICEIP', 'CLIENTUA', 'IFA', 'LATLONG', 'PAGEURL', 'GDPRCONSENT'];
  const query = [...macros, ...personal, 'DOMAIN'].map((name) => `${name}=[${name}]`).join('&');
  const { path } = await track({}, `?${query}`);
  const countedAtMs = BigInt(tracking.management.clock().getTime());
  const servingId = serve('impression', newId('srv'), { countedAtMs, playheadMs: 61_500n, breakPosition: 'mid' });
  await tracking.call(servingId, ({ state }) => state === 'delivered');
  const [got] = calledAt(path);
  expect(got!.headers).toEqual({
    accept: '*/*',
    'accept-encoding': 'identity',
    connection: 'close',
    host: new URL(tracking.receiver.origin).host,
    'user-agent': 'Longwave-Tracking/1.0',
  });
  expect(got!.body).toBe('');
  const told = Object.fromEntries(new URL(got!.path, 'https://tracker.test').searchParams);
  expect(told).toEqual({
    ...{ CACHEBUSTING: expect.stringMatching(/^\d{8}$/), ADSERVINGID: servingId, MEDIAPLAYHEAD: '00:01:01.500' },
    ...{ BREAKPOSITION: '2', ADTYPE: 'audio', VASTVERSIONS: '2,3,5,6,7,8,11,12,13,14', DOMAIN: '-1' },
    TIMESTAMP: expect.any(String),
    ...Object.fromEntries(personal.map((name) => [name, '-2'])),
  });
  expect(Math.abs(Date.parse(told['TIMESTAMP']!) - Number(countedAtMs))).toBeLessThan(1_000);
});

test('a tracker that is out of order is called again later, with the same random number, until it takes the call', async () => {
  const { serve, track } = await tracking.advertise();
  const { path, endpoint } = await track({}, '?cb=[CACHEBUSTING]');
  let failures = 2;
  tracking.receiver.answerAll(path, (response) => response.writeHead(failures-- > 0 ? 503 : 204).end());
  const servingId = serve();
  for (const attempts of [1, 2]) {
    const row = await tracking.call(servingId, (each) => each.attempts === attempts);
    expect(row).toMatchObject({ state: 'pending', problem: 'status', status: 503 });
    const pauseMs = row.next_attempt_at.getTime() - tracking.management.clock().getTime();
    expect(Math.abs(pauseMs - (attempts === 1 ? 10_000 : 60_000))).toBeLessThan(5_000);
    tracking.management.aheadMs += pauseMs + 1;
  }
  await tracking.call(servingId, ({ state }) => state === 'delivered');
  expect(new Set(calledAt(path).map((each) => each.path)).size).toBe(1);
  expect(calledAt(path)).toHaveLength(3);
  expect(await createReadTally(tracking.management.pool)(endpoint.id)).toEqual({
    ...{ delivered: 1, failed: 0, given_up: 0, waiting: 0, last_delivered_at: expect.any(String) },
  });
});

test('a refusal ends a call at once; a host that never takes it is given up after a day', async () => {
  const { serve, track } = await tracking.advertise();
  const { path, endpoint } = await track({}, '', trackerHosts.other);
  tracking.other.answerAll(path, (response) => response.writeHead(404).end());
  expect(await tracking.call(serve(), ({ state }) => state === 'failed')).toMatchObject({ attempts: 1, status: 404 });
  tracking.other.answerAll(path, (response) => response.writeHead(500).end());
  const servingId = serve();
  const begun = tracking.management.clock().getTime();
  for (let attempts = 1; ; attempts++) {
    const row = await tracking.call(servingId, (each) => each.attempts >= attempts || each.state !== 'pending');
    if (row.state !== 'pending') {
      expect(row).toMatchObject({ state: 'given_up', problem: 'status', status: 500 });
      break;
    }
    tracking.management.aheadMs += row.next_attempt_at.getTime() - tracking.management.clock().getTime() + 1;
  }
  expect(tracking.management.clock().getTime() - begun).toBeGreaterThanOrEqual(24 * hour);
  // What is found a day later is not called any more.
  const late = serve('impression', newId('srv'), { countedAtMs: BigInt(tracking.management.clock().getTime()) });
  tracking.management.aheadMs += 25 * hour;
  expect(await tracking.call(late, ({ state }) => state !== 'pending')).toMatchObject({
    state: 'given_up',
    problem: 'too_late',
  });
  expect(await createReadTally(tracking.management.pool)(endpoint.id)).toEqual({
    ...{ delivered: 0, failed: 1, given_up: 2, waiting: 0 },
    last_problem: { code: 'too_late', detail: 'The call could not be made within 24 hours.', at: expect.any(String) },
  });
});

test('a slow host holds up no other, and is asked by one call at a time once it failed', async () => {
  const slow = await tracking.advertise();
  const { path } = await slow.track({}, '', trackerHosts.other);
  let [busy, most] = [0, 0];
  tracking.other.answerAll(path, (response) => {
    most = Math.max(most, ++busy);
    response.on('close', () => busy--);
  });
  const first = slow.serve();
  await tracking.call(first, ({ attempts }) => attempts === 1);
  most = 0;
  for (let n = 0; n < 30; n++) slow.serve();
  await until(() => busy === 1, { timeoutMs: 15_000 });
  const { serve, track } = await tracking.advertise();
  await track();
  await tracking.call(serve(), ({ state }) => state === 'delivered');
  expect(most).toBe(1);
  tracking.other.answerAll(path, (response) => response.end());
});

test('neither the endpoint of another workspace nor one that is disabled, not validated or validated later is called', async () => {
  const mine = await tracking.advertise();
  const others = await tracking.advertise();
  const foreign = await others.track();
  const disabled = await mine.track();
  await mine.world.send('tracking_endpoint.disable', disabled.endpoint, { cause: 'The order ended.' });
  await mine.world.trackingEndpoint({ campaign_id: mine.campaign.id, url_template: `${trackerHosts.good}/draft` });
  const active = await mine.track();
  const earlier = mine.serve('impression', newId('srv'), { countedAtMs: 1n });
  const servingId = mine.serve();
  // The sink would have to be wrong for this: ids of one workspace under the name of another.
  const wrong = mine.serve('impression', newId('srv'), {
    ...{ campaignId: others.campaign.id, creativeId: others.creative.id, lineItemId: others.lineItem.id },
  });
  await tracking.call(servingId, ({ state }) => state === 'delivered');
  expect(calledAt(active.path)).toHaveLength(1);
  expect(await Promise.all([earlier, wrong].map(tracking.callsOf))).toEqual([[], []]);
  expect([foreign, disabled].flatMap(({ path }) => calledAt(path))).toEqual([]);
  expect(tracking.questions.at(-1)).toEqual(expect.arrayContaining([mine.world.workspaceId]));
});

test('calls that wait when their endpoint is disabled are given up', async () => {
  const { world, serve, track } = await tracking.advertise();
  const { path, endpoint } = await track();
  tracking.receiver.answerAll(path, (response) => response.writeHead(503).end());
  const servingId = serve();
  const row = await tracking.call(servingId, ({ attempts }) => attempts === 1);
  await world.send('tracking_endpoint.disable', endpoint, { cause: 'Wrong address.' });
  tracking.management.aheadMs += row.next_attempt_at.getTime() - tracking.management.clock().getTime() + 1;
  expect(await tracking.call(servingId, ({ state }) => state !== 'pending')).toMatchObject({
    ...{ state: 'given_up', problem: 'endpoint_disabled', attempts: 1 },
  });
  expect(calledAt(path)).toHaveLength(1);
});

test('an address is refused in words: with macros that nobody knows, without https, with what would reach more than a tracker', async () => {
  const { world, campaign } = await tracking.advertise();
  const refused = [
    ['https://tracker.test/i?x=[SHOE_SIZE]', 'does not know: [SHOE_SIZE]'],
    ['http://tracker.test/i', 'is no https address'],
    ['https://[IFA].tracker.test/i', 'macro in its host'],
    ['https://tracker.test:8443/i', 'port'],
    ['https://me:secret@tracker.test/i', 'password'],
    ['https://tracker.test/i#part', 'fragment'],
    ['https://tracker.test/i?x={ip}', 'no macro'],
  ];
  for (const [url, words] of refused)
    await expect(world.trackingEndpoint({ campaign_id: campaign.id, url_template: url })).rejects.toMatchObject({
      code: 'validation_failed',
      context: { errors: [{ path: '/changes/url_template', detail: expect.stringContaining(words!) }] },
    });
});

test('an endpoint has one scope; its address changes only while it is not active, and then needs another validation', async () => {
  const { world, campaign, lineItem, track } = await tracking.advertise();
  const both = { campaign_id: campaign.id, line_item_id: lineItem.id };
  await expect(world.trackingEndpoint(both)).rejects.toMatchObject({ code: 'validation_failed' });
  const { endpoint } = await track({}, '?cb=[CACHEBUSTING]&at=%%TIMESTAMP%%');
  expect(endpoint.attributes).toMatchObject({ allowed_macros: ['CACHEBUSTING', 'TIMESTAMP'] });
  const url = { url_template: `${trackerHosts.good}/other` };
  await expect(world.send('tracking_endpoint.revise', endpoint, url)).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const renamed = await world.send('tracking_endpoint.revise', endpoint, { vendor: 'New name' });
  const disabled = await world.send('tracking_endpoint.disable', renamed, { cause: 'Another address.' });
  const enabled = await world.send('tracking_endpoint.enable', disabled, {});
  const again = await world.send('tracking_endpoint.disable', enabled, { cause: 'Another address.' });
  const moved = await world.send('tracking_endpoint.revise', again, url);
  expect(moved.attributes).toMatchObject({ ...url, allowed_macros: [] });
  await expect(world.send('tracking_endpoint.enable', moved, {})).rejects.toMatchObject({ code: 'state_not_allowed' });
  for (let n = 0; n < 9; n++) await track();
  await expect(track()).rejects.toMatchObject({
    code: 'validation_failed',
    context: { errors: [{ path: '/changes/campaign_id' }] },
  });
});

test('a validation asks the front page for its headers, never the address itself, and says in words what is wrong', async () => {
  const { world, campaign } = await tracking.advertise();
  const { execute, pool } = tracking.management;
  await using _runner = startJobRunner({
    ...{ pool, execute, pollMs: 20, onError: () => undefined },
    handlers: { check_tracking_endpoint: createTrackingCheckHandler({ pool, execute, fetch: tracking.fetch }) },
  });
  const validated = async (url: string) => {
    const draft = await world.trackingEndpoint({ campaign_id: campaign.id, url_template: url });
    await world.send('tracking_endpoint.validate', draft, {}, tracking.service('operator'));
    return until(async () => {
      const { rows } = await pool.query<{ lifecycle_state: string; attributes: Record<string, unknown> }>(
        `select lifecycle_state, attributes from resource where id = $1 and lifecycle_state <> 'validating'`,
        [draft.id],
      );
      return rows[0];
    });
  };
  tracking.receiver.answers.set('/', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
  const good = await validated(`${trackerHosts.good}/validated?x=[TIMESTAMP]`);
  expect(good).toMatchObject({ lifecycle_state: 'active', attributes: { validated_at: expect.any(String) } });
  expect(tracking.receiver.at('/')).toMatchObject([{ method: 'HEAD' }]);
  expect(calledAt('/validated')).toEqual([]);
  const bad = await validated('https://inside.test/i');
  expect(bad).toMatchObject({
    lifecycle_state: 'draft',
    attributes: { problem: { code: 'host_not_usable', detail: expect.stringContaining('No public host') } },
  });
});
