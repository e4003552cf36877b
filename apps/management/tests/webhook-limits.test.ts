import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { insertDeliveriesOf } from './_deliveries.ts';
import { hour } from './_values.ts';
import { startWebhookWorld, type WebhookWorld } from './_webhooks.ts';
import { createWorld } from './_world.ts';

let hooks: WebhookWorld;
beforeAll(async () => {
  hooks = await startWebhookWorld();
});
afterAll(async () => hooks[Symbol.asyncDispose]());

test('an endpoint replays a thousand deliveries an hour, the oldest first; more are refused until the hour is over', async () => {
  const { world, endpoint, deliveries, now } = await hooks.subscribe(['podcast.created']);
  await insertDeliveriesOf(hooks.management, endpoint, { count: 1_003, state: 'failed' });
  const since = new Date(0).toISOString();
  await world.send('webhook_endpoint.replay', endpoint, { since });
  const failed = async () =>
    (await deliveries()).filter(({ state }) => state === 'failed').map((row) => row.message_id);
  expect((await failed()).sort()).toEqual(['evt_1001', 'evt_1002', 'evt_1003']);

  const last = (await deliveries()).find(({ state }) => state === 'failed');
  await hooks.management.pool.query(
    'delete from webhook_delivery where endpoint_id = $1 and state = $2 and lease_id is null',
    [endpoint.id, 'pending'],
  );
  for (const changes of [{ since }, { delivery_id: last!.id }])
    await expect(world.send('webhook_endpoint.replay', await now(), changes)).rejects.toMatchObject({
      code: 'rate_limited',
      context: { retryAfterSeconds: expect.any(Number) },
    });
  await expect(world.send('webhook_endpoint.send_test', await now(), {})).rejects.toMatchObject({
    code: 'rate_limited',
  });
  hooks.management.aheadMs += hour;
  await world.send('webhook_endpoint.replay', await now(), { since });
  expect(await failed()).toEqual([]);
});

test('another address of the endpoint, and a pause of it, bring no further replays', async () => {
  const { world, endpoint, now } = await hooks.subscribe(['podcast.created']);
  await insertDeliveriesOf(hooks.management, endpoint, { count: 1_000, state: 'failed' });
  await world.send('webhook_endpoint.replay', endpoint, { since: new Date(0).toISOString() });
  await world.send('webhook_endpoint.revise', await now(), { url: `${hooks.receiver.origin}/elsewhere` });
  await world.send('webhook_endpoint.disable', await now(), {});
  await world.send('webhook_endpoint.enable', await now(), {});
  await expect(world.send('webhook_endpoint.send_test', await now(), {})).rejects.toMatchObject({
    code: 'rate_limited',
  });
});

test('one host gets few messages at a time, from all endpoints of all workspaces together, and others do not wait for it', async () => {
  const held: (() => void)[] = [];
  const slow = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const path = `/slow-${n}`;
      hooks.receiver.answers.set(path, (response) => void held.push(() => response.end()));
      return (await hooks.subscribe(['podcast.created'], createWorld(hooks.management), path)).endpoint;
    }),
  );
  const world = createWorld(hooks.management);
  const elsewhere = await world.send('webhook_endpoint.create', null, {
    url: `${hooks.otherReceiver.origin}/fast`,
    events: ['podcast.created'],
  });
  await Promise.all(
    slow.map((endpoint) => insertDeliveriesOf(hooks.management, endpoint, { count: 4, state: 'pending' })),
  );
  await until(() => held.length >= 12);
  await insertDeliveriesOf(hooks.management, elsewhere, { count: 30, state: 'pending' });
  hooks.webhooks.wake();
  await until(() => hooks.otherReceiver.at('/fast').length === 30);
  expect(held).toHaveLength(12);
  for (let freed = 0; freed < 80; freed++) (await until(() => held.shift()))();
});
