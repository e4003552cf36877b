import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { webhookMessageSchema } from '@longwave/command-catalog';
import { createGuardedFetch, type GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import { claimDelivery } from '../src/workspace/webhooks/attempt-table.ts';
import { removeDeliveries } from '../src/workspace/webhooks/delivery-table.ts';
import { createListDeliveries } from '../src/workspace/webhooks/delivery-list-table.ts';
import { createPostMessage } from '../src/workspace/webhooks/post-message.ts';
import { isSigned } from './_receiver.ts';
import { hour, service } from './_values.ts';
import { startWebhookWorld, type WebhookWorld } from './_webhooks.ts';
import { createWorld } from './_world.ts';

let hooks: WebhookWorld;
beforeAll(async () => {
  hooks = await startWebhookWorld();
});
afterAll(async () => hooks[Symbol.asyncDispose]());

type Subscribed = Awaited<ReturnType<WebhookWorld['subscribe']>>;

/** Moves the clock to the next attempt of a delivery. */
async function passTime({ deliveries }: Subscribed): Promise<void> {
  const [{ next_attempt_at: nextAt } = { next_attempt_at: new Date(0) }] = await deliveries();
  hooks.management.aheadMs += Math.max(0, nextAt.getTime() - hooks.management.clock().getTime()) + 1;
  hooks.webhooks.wake();
}

/** Lets a delivery fail until it is given up, or its endpoint is disabled. */
async function failForThreeDays(subscribed: Subscribed): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    const row = await subscribed.delivery((each) => each.attempts >= attempts || each.state !== 'pending');
    if (row.state !== 'pending') return;
    await passTime(subscribed);
  }
}

const attemptsOf = async (deliveryId: string) =>
  (
    await hooks.management.pool.query<{
      number: number;
      status: number | null;
      problem: string | null;
      answer: string | null;
    }>('select number, status, problem, answer from webhook_attempt where delivery_id = $1 order by number', [
      deliveryId,
    ])
  ).rows;

test('an event arrives once, signed, with the fields of its schema; a changed body has a wrong signature', async () => {
  const { world, received, delivery, secret } = await hooks.subscribe(['podcast.created']);
  const podcast = await world.podcast();
  const row = await delivery(({ state }) => state === 'delivered');
  const [message, ...others] = received();
  expect(others).toEqual([]);
  expect(isSigned(message!, secret)).toBe(true);
  expect(isSigned({ ...message!, body: message!.body.replace('created', 'deleted') }, secret)).toBe(false);
  const parsed = webhookMessageSchema('podcast.created').parse(JSON.parse(message!.body));
  expect(parsed).toMatchObject({
    id: message!.headers['webhook-id'],
    workspace_id: world.workspaceId,
    data: {
      ...{ resource_type: 'podcasts', resource_id: podcast.id, version: 1, state: 'draft' },
      rest_url: `https://longwave.example/api/v1/podcasts/${podcast.id}`,
    },
  });
  expect(message!.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': row.message_id });
  expect(row).toMatchObject({ attempts: 1, problem: null });
});

test('only chosen events of the own workspace arrive', async () => {
  const mine = await hooks.subscribe(['episode.created']);
  const other = await hooks.subscribe(['episode.created']);
  await other.world.podcast();
  await other.world.episode();
  await other.delivery(({ state }) => state === 'delivered');
  await mine.world.episode();
  await mine.delivery(({ state }) => state === 'delivered');
  const bodies = mine.received().map(({ body }) => JSON.parse(body) as { type: string; workspace_id: string });
  expect(bodies.map(({ type, workspace_id }) => [type, workspace_id])).toEqual([
    ['episode.created', mine.world.workspaceId],
  ]);
});

test('REST users hear of publications, encodings and imports under one name each, with what they would ask next', async () => {
  const { world, received } = await hooks.subscribe(['episode.published', 'production.encoded', 'operation.ended']);
  await world.setEncodingLimit(hour);
  const { production, lease } = await world.encoding();
  await world.send('production.complete', production, world.completion, service('encoder'), lease);
  await until(() => received().length === 2);
  const bodies = received()
    .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
    .sort((a, b) => a.type.localeCompare(b.type));
  for (const body of bodies) expect(webhookMessageSchema(body.type).parse(body)).toEqual(body);
  expect(bodies).toMatchObject([
    {
      type: 'operation.ended',
      data: { command_type: 'production.start', state: 'succeeded', subject: { id: production.id } },
    },
    {
      type: 'production.encoded',
      data: { resource_id: production.id, episode_id: expect.any(String), duration: expect.any(Number) },
    },
  ]);
});

test('a cancelled operation has ended, and is told as one', async () => {
  const { world, received } = await hooks.subscribe(['operation.ended']);
  await world.setEncodingLimit(hour);
  const production = await world.production();
  const { rows } = await (async () => {
    await world.send('production.start', production, { publish_episode: false });
    return hooks.management.pool.query<{ id: string; version: number }>(
      `select id, subject_version as version from operation where subject_id = $1 and command_type = 'production.start'`,
      [production.id],
    );
  })();
  const outcome = await hooks.execute(
    {
      ...{ workspaceId: world.workspaceId, commandType: 'operation.cancel', idempotencyKey: 'cancel-1' },
      ...{ subject: { type: 'operations', id: rows[0]!.id }, changes: { cause: 'Another file.' } },
    },
    world.actor,
  );
  expect(outcome.status).toBe(200);
  await until(() => received().length === 1);
  const message = JSON.parse(received()[0]!.body) as { data: unknown };
  expect(webhookMessageSchema('operation.ended').parse(message)).toEqual(message);
  expect(message.data).toMatchObject({
    operation_id: rows[0]!.id,
    state: 'cancelled',
    command_type: 'production.start',
  });
});

test('a failed delivery is tried again after growing pauses, under the same id, and each attempt is on record', async () => {
  const subscribed = await hooks.subscribe(['podcast.created']);
  const { world, path, received, delivery } = subscribed;
  let failures = 2;
  hooks.receiver.answers.set(path, (response) => {
    if (failures-- > 0) response.writeHead(500).end('out of\u0000 order'.padEnd(5_000, '!'));
    else response.end();
  });
  await world.podcast();
  const pauses: number[] = [];
  for (const attempts of [1, 2]) {
    const row = await delivery((each) => each.attempts === attempts);
    pauses.push(Math.round((row.next_attempt_at.getTime() - hooks.management.clock().getTime()) / 1000));
    await passTime(subscribed);
  }
  const row = await delivery(({ state }) => state === 'delivered');
  expect(pauses[0]).toBeLessThanOrEqual(5);
  expect(pauses[1]).toBeGreaterThan(20);
  expect(new Set(received().map(({ headers }) => headers['webhook-id']))).toEqual(new Set([row.message_id]));
  expect(new Set(received().map(({ body }) => body))).toEqual(new Set([row.body]));
  const attempts = await attemptsOf(row.id);
  expect(attempts.map(({ number, status, problem }) => [number, status, problem])).toEqual([
    [1, 500, 'status'],
    [2, 500, 'status'],
    [3, 200, null],
  ]);
  expect(attempts[0]!.answer).toHaveLength(1_024);
  expect(attempts[2]!.answer).toBeNull();

  // Replays add attempts without end; a list shows the last ones.
  await hooks.management.pool.query(
    `insert into webhook_attempt (delivery_id, number, started_at, duration_ms, status)
     select $1, n, now(), 1, 500 from generate_series(4, 30) n`,
    [row.id],
  );
  const list = createListDeliveries(hooks.management.pool);
  const [listed] = await list({ endpointId: row.endpoint_id, limit: 1 });
  expect(listed!.attempts.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, n) => n + 11));
});

test('a receiver that asks for a pause gets it', async () => {
  const { world, path, delivery } = await hooks.subscribe(['podcast.created']);
  hooks.receiver.answers.set(path, (response) => response.writeHead(503, { 'retry-after': '7200' }).end());
  await world.podcast();
  const row = await delivery(({ attempts }) => attempts === 1);
  const pauseMs = row.next_attempt_at.getTime() - hooks.management.clock().getTime();
  expect(pauseMs).toBeGreaterThan(hour);
  expect(pauseMs).toBeLessThanOrEqual(2 * hour);
});

test('410 Gone disables the endpoint at once, and says why', async () => {
  const { world, path, delivery, now } = await hooks.subscribe(['podcast.created']);
  hooks.receiver.answers.set(path, (response) => response.writeHead(410).end());
  await world.podcast();
  expect(await delivery(({ state }) => state === 'failed')).toMatchObject({ problem: 'gone', attempts: 1 });
  expect(await now()).toMatchObject({
    lifecycle_state: 'disabled',
    attributes: { state_reason: expect.stringContaining('410') },
  });
});

test('three days of failures disable the endpoint by a command, with an event and a notice; what it missed can be replayed under the same ids', async () => {
  const subscribed = await hooks.subscribe(['podcast.created']);
  const watching = await hooks.subscribe(['podcast.created', 'webhook_endpoint.disabled'], subscribed.world);
  const { world, path, received, deliveries, delivery, now } = subscribed;
  hooks.receiver.answers.set(path, (response) => response.writeHead(500).end());
  const begun = hooks.management.clock();
  await world.podcast();
  await failForThreeDays(subscribed);
  const disabled = await now();
  expect(disabled).toMatchObject({
    lifecycle_state: 'disabled',
    attributes: { state_reason: expect.stringContaining('three days') },
  });
  const days = (hooks.management.clock().getTime() - begun.getTime()) / (24 * hour);
  expect(days).toBeGreaterThanOrEqual(3);
  expect(days).toBeLessThan(3.1);
  const { rows } = await hooks.management.pool.query(
    `select type, payload -> 'after' -> 'attributes' ->> 'state_reason' as reason from outbox where key = $1 order by position desc limit 1`,
    [disabled.id],
  );
  expect(rows).toMatchObject([{ type: 'webhook_endpoint.disabled', reason: expect.stringContaining('three days') }]);
  expect((await watching.now()).lifecycle_state).toBe('active');
  await watching.delivery(
    ({ message_type: type, state }) => type === 'webhook_endpoint.disabled' && state === 'delivered',
  );
  const notices = () =>
    hooks.management.pool.query(
      `select event_type, detail ->> 'cause' as cause from change where kind = 'notice' and workspace_id = $1 and resource_id = $2`,
      [world.workspaceId, disabled.id],
    );
  await until(async () => (await notices()).rowCount === 1);
  expect((await notices()).rows).toEqual([
    { event_type: 'webhook_endpoint.disabled', cause: disabled.attributes['state_reason'] },
  ]);

  // What occurs meanwhile is recorded, and is not sent.
  const sent = received().length;
  await world.podcast();
  await until(async () => (await deliveries()).length === 2);
  expect(await deliveries()).toMatchObject([
    { state: 'failed', problem: 'status' },
    { state: 'failed', problem: 'endpoint_disabled', attempts: 0 },
  ]);
  expect(received()).toHaveLength(sent);

  hooks.receiver.answers.delete(path);
  const enabled = await world.send('webhook_endpoint.enable', disabled, {});
  await world.send('webhook_endpoint.replay', enabled, { since: begun.toISOString() });
  await until(async () => (await deliveries()).every(({ state }) => state === 'delivered'));
  const ids = (await deliveries()).map(({ message_id: id }) => id);
  expect(
    received()
      .slice(sent)
      .map(({ headers }) => headers['webhook-id'])
      .sort(),
  ).toEqual([...ids].sort());

  const [first] = await deliveries();
  await world.send('webhook_endpoint.replay', await now(), { delivery_id: first!.id });
  await delivery(({ id, state, attempts }) => id === first!.id && state === 'delivered' && attempts > first!.attempts);
  expect(received().at(-1)).toMatchObject({ headers: { 'webhook-id': first!.message_id }, body: first!.body });
});

test('an endpoint that has taken something meanwhile stays active when one delivery is given up', async () => {
  const subscribed = await hooks.subscribe(['podcast.created', 'episode.created']);
  const { world, path, delivery, now } = subscribed;
  hooks.receiver.answers.set(path, (response, { body }) =>
    response.writeHead(body.includes('podcast.created') ? 500 : 200).end(),
  );
  const podcast = await world.podcast();
  await delivery(({ attempts }) => attempts === 1);
  await world.send('episode.create', null, { podcast_id: podcast.id, title: 'One' });
  await until(async () => (await subscribed.deliveries()).length === 2);
  await failForThreeDays(subscribed);
  await delivery(({ state }) => state === 'delivered');
  expect((await now()).lifecycle_state).toBe('active');
});

test('nothing is sent to a redirect, to a private network, and a host that is away is tried again', async () => {
  const redirected = await hooks.subscribe(['podcast.created']);
  const { world } = redirected;
  const elsewhere = await hooks.subscribe(['podcast.archived'], world);
  hooks.receiver.answers.set(redirected.path, (response) =>
    response.writeHead(307, { location: hooks.receiver.origin + elsewhere.path }).end(),
  );
  const at = async (url: string) => {
    const endpoint = await world.send('webhook_endpoint.create', null, { url, events: ['podcast.created'] });
    return async () => (await hooks.deliveriesOf(endpoint))[0];
  };
  const inside = await at('https://inside.example/hook');
  const away = await at('http://127.0.0.1:1/hook');
  await world.podcast();
  const [redirect, refused, unreachable] = await Promise.all([
    redirected.delivery(({ attempts }) => attempts === 1),
    until(async () => ((await inside())?.attempts === 1 ? await inside() : undefined)),
    until(async () => ((await away())?.attempts === 1 ? await away() : undefined)),
  ]);
  expect(redirect).toMatchObject({ state: 'pending', problem: 'redirected' });
  expect(refused).toMatchObject({ problem: 'address_refused' });
  expect(unreachable).toMatchObject({ problem: 'not_reachable' });
  expect(elsewhere.received()).toEqual([]);
});

test('a receiver that does not answer in time has failed, and so has one without a valid certificate', async () => {
  const { receiver, management } = hooks;
  receiver.answers.set('/silent', () => undefined);
  const post = createPostMessage(createGuardedFetch({ allowOrigins: [receiver.origin] }), management.clock, 50);
  const posted = await post(`${receiver.origin}/silent`, '{}', {}, new AbortController().signal);
  expect(posted).toMatchObject({ problem: 'timeout', status: undefined });
  const untrusted: GuardedFetch = async () => {
    throw new Problem('media_not_fetchable', 'x', {
      cause: Object.assign(new Error('x'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
    });
  };
  const refused = createPostMessage(untrusted, management.clock);
  expect(await refused('https://a.example/', '{}', {}, new AbortController().signal)).toMatchObject({
    problem: 'certificate_invalid',
  });
});

test('an endpoint that is slow delays no other: a fast one gets everything while the slow one has few connections', async () => {
  const world = createWorld(hooks.management);
  const slow = await hooks.subscribe(['podcast.created'], world);
  const fast = await hooks.subscribe(['podcast.created'], world);
  const held: (() => void)[] = [];
  hooks.receiver.answers.set(slow.path, (response) => void held.push(() => response.end()));
  const { pool } = hooks.management;
  await pool.query(
    `insert into webhook_delivery (id, workspace_id, endpoint_id, message_id, message_type, occurred_at, body, state, queued_at, next_attempt_at, created_at)
     select 'whd_' || e || n, $1, e, 'evt_' || n, 'podcast.created', $3, '{}', 'pending', $3, $3, $3
     from unnest($2::text[]) e, generate_series(1, 1000) n`,
    [world.workspaceId, [slow.endpoint.id, fast.endpoint.id], hooks.management.clock()],
  );
  hooks.webhooks.wake();
  await until(() => fast.received().length === 1_000);
  expect(slow.received().length).toBeLessThanOrEqual(4);
  await pool.query(`delete from webhook_delivery where endpoint_id = $1 and lease_id is null`, [slow.endpoint.id]);
  for (const answer of held) answer();
});

test('a message whose sender died is sent again, with the same id, when the lease has run out', async () => {
  const subscribed = await hooks.subscribe(['podcast.created']);
  const { world, path, received, delivery } = subscribed;
  hooks.receiver.answers.set(path, (response) => response.writeHead(500).end());
  await world.podcast();
  await delivery(({ attempts }) => attempts === 1);
  const { pool, clock } = hooks.management;
  // Another process claims everything that is due, and dies.
  const later = new Date(clock().getTime() + 10_000);
  while (await claimDelivery(pool, later, 60_000)) continue;
  hooks.receiver.answers.delete(path);
  hooks.management.aheadMs += 20_000;
  hooks.webhooks.wake();
  await createWorld(hooks.management).podcast();
  expect(received()).toHaveLength(1);
  hooks.management.aheadMs += 60_000;
  hooks.webhooks.wake();
  const row = await delivery(({ state }) => state === 'delivered');
  expect(received().map(({ headers }) => headers['webhook-id'])).toEqual([row.message_id, row.message_id]);
});

test('ended deliveries are removed with their attempts when they are old; waiting ones stay', async () => {
  const { world, path, delivery, deliveries } = await hooks.subscribe(['podcast.created']);
  await world.podcast();
  const done = await delivery(({ state }) => state === 'delivered');
  hooks.receiver.answers.set(path, (response) => response.writeHead(500).end());
  await world.podcast();
  await delivery(({ state, attempts }) => state === 'pending' && attempts === 1);
  const { pool, clock } = hooks.management;
  await removeDeliveries(pool, new Date(clock().getTime() + hour), 100_000);
  expect(await deliveries()).toMatchObject([{ state: 'pending' }]);
  expect(await attemptsOf(done.id)).toEqual([]);
});
