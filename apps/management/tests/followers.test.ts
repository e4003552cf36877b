import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOutboxRelay } from '@longwave/command-pipeline';
import { createRedisBus } from '@longwave/event-bus';
import { topics, type ResourceView } from '@longwave/events';
import { startTestRedis } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createLogger } from '@longwave/service-kit';
import { followEvents } from '../src/followers/follow-events.ts';
import { sendAsManagement } from '../src/followers/send-as-management.ts';
import { createWorld, service, startTestManagement, type TestManagement, type World } from './_support.ts';

let management: TestManagement;
let bus: ReturnType<typeof createRedisBus>;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  const redis = stack.use(await startTestRedis());
  bus = stack.use(createRedisBus({ redisUrl: redis.url, clientName: 'test' }));
  const { pool, store, execute } = management;
  stack.use(
    startOutboxRelay({
      pool,
      topic: topics.product,
      publish: (messages) => bus.publish(messages),
      onError: () => undefined,
      pollMs: 20,
    }),
  );
  const logger = createLogger('test', 'silent');
  for (const subscription of await followEvents({
    bus,
    pool,
    store,
    send: sendAsManagement(execute, logger),
    logger,
    clock: () => new Date(),
  }))
    stack.use(subscription);
});
afterAll(async () => stack.disposeAsync());

const read = async (
  id: string,
): Promise<{ version: number; lifecycle_state: string; attributes: Record<string, unknown> }> =>
  (await management.pool.query('select version, lifecycle_state, attributes from resource where id = $1', [id]))
    .rows[0];

/** Waits until the row satisfies the condition; the test's own timeout ends it. */
async function until(id: string, holds: (row: Awaited<ReturnType<typeof read>>) => boolean) {
  for (;;) {
    const row = await read(id);
    if (holds(row)) return row;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits until every event committed so far was handled: a marker behind them was. */
async function caughtUp(world: World): Promise<void> {
  const upload = await world.upload();
  const episode = await world.episode();
  await world.send('production.create', null, { episode_id: episode.id, file_url: upload.attributes['file_url'] });
  await until(upload.id, (row) => row.lifecycle_state === 'received');
}

async function encode(world: World, production: ResourceView): Promise<void> {
  const lease = await world.lease('encode_production', production.id);
  await world.send('production.complete', { ...production, version: 2 }, world.completion, service('encoder'), lease);
}

test('an encoded production becomes the audio of its episode and publishes it when asked to', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const production = await world.production();
  await world.send('production.start', production, { publish_episode: true });
  await encode(world, production);
  const episode = await until(
    String(production.attributes['episode_id']),
    (row) => row.lifecycle_state === 'published',
  );
  expect(episode).toMatchObject({ version: 3, attributes: { current_production_id: production.id } });
});

test('an older production that ends last does not replace the newer one', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const episode = await world.episode();
  const create = async () =>
    world.send('production.create', null, {
      episode_id: episode.id,
      file_url: (await world.upload()).attributes['file_url'],
    });
  const older = await create();
  const newer = await create();
  for (const production of [older, newer]) await world.send('production.start', production, {});
  await encode(world, newer);
  await until(episode.id, (row) => row.attributes['current_production_id'] === newer.id);
  await encode(world, older);
  await caughtUp(world);
  expect((await read(episode.id)).attributes['current_production_id']).toBe(newer.id);
});

test('a file that is no audio ends its upload and leaves no object', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const problem = { code: 'media_not_audio', detail: 'The file is a text.' };
  const uploadId = String(production.attributes['upload_id']);
  const { attributes } = await read(uploadId);
  await world.send('production.fail', production, { problem }, service('encoder'), lease);
  await until(uploadId, (row) => row.lifecycle_state === 'aborted');
  while (await management.store.find(String(attributes['storage_key'])))
    await new Promise((resolve) => setImmediate(resolve));
});

test('a plan published last is the one that stays; a plan for the future leaves the current one serving', async () => {
  const world = createWorld(management);
  const first = await world.readyPlan();
  const second = await world.readyPlan();
  await world.send('serving_plan.publish', second, {});
  await world.send('serving_plan.publish', first, {});
  await until(second.id, (row) => row.lifecycle_state === 'superseded');
  expect((await read(first.id)).lifecycle_state).toBe('published');

  const tomorrow = new Date(Date.now() + 24 * 3600_000).toISOString();
  const requested = await world.send('serving_plan.compile', null, { effective_from: tomorrow });
  const lease = await world.lease('compile_serving_plan', requested.id);
  const future = await world.send(
    'serving_plan.record_compiled',
    requested,
    world.planCompiled,
    service('management'),
    lease,
  );
  await world.send('serving_plan.publish', future, {});
  await caughtUp(world);
  expect((await read(first.id)).lifecycle_state).toBe('published');
});

test('a new account gets its workspace and its encoding limit; an older event never overwrites a newer plan', async () => {
  const workspaceId = newId('ws');
  const accountId = newId('acc');
  const event = (version: number, type: string, limit: number | null) => ({
    topic: topics.identity,
    key: accountId,
    id: newId('evt'),
    type,
    payload: {
      id: newId('evt'),
      type,
      workspace_id: workspaceId,
      subject: { type: 'accounts', id: accountId, version },
      operation_id: newId('op'),
      occurred_at: new Date().toISOString(),
      after: {
        resource_type: 'accounts',
        id: accountId,
        workspace_id: workspaceId,
        version,
        lifecycle_state: 'active',
        links: {},
        digest: 'd',
        attributes: { name: 'Harbour', plan: 'grow', encoding_ms_per_month: limit, subscription: { state: 'active' } },
        created_at: new Date().toISOString(),
        updated_at: new Date().toISOString(),
        updated_by: { operation_id: newId('op') },
      },
    },
  });
  await bus.publish([
    event(1, 'account.created', 1000),
    event(3, 'account.plan_set', 3000),
    event(2, 'account.plan_set', 2000),
  ]);
  const limit = async () =>
    (
      await management.pool.query('select ms_per_month::int as ms from encoding_limit where workspace_id = $1', [
        workspaceId,
      ])
    ).rows[0]?.ms as number | undefined;
  while ((await limit()) !== 3000) await new Promise((resolve) => setImmediate(resolve));
  while (!(await read(workspaceId))) await new Promise((resolve) => setImmediate(resolve));
  await caughtUp(createWorld(management));
  expect(await limit()).toBe(3000);
});
