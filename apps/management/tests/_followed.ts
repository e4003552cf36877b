import { expect } from '@jest/globals';
import { startOutboxRelay } from '@longwave/command-pipeline';
import { createRedisBus } from '@longwave/event-bus';
import { topics, type ResourceView } from '@longwave/events';
import { startTestRedis } from '@longwave/fleet';
import { createLogger } from '@longwave/service-kit';
import { until as waitUntil } from '@longwave/test-kit';
import { startClock } from '../src/background/clock.ts';
import { dueTasks } from '../src/due-tasks.ts';
import { followEvents } from '../src/reactions.ts';
import { sendAsManagement } from '../src/background/send-as-management.ts';
import { startTestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import type { World } from './_world.ts';

/** Management with its relay, a real bus and its own followers. */
export async function startFollowed() {
  await using stack = new AsyncDisposableStack();
  const management = stack.use(await startTestManagement());
  const redis = stack.use(await startTestRedis());
  const bus = stack.use(createRedisBus({ redisUrl: redis.url, clientName: 'test' }));
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
  for (const subscription of followEvents({
    bus,
    pool,
    store,
    send: sendAsManagement(execute, logger),
    runApproved: management.runApproved,
    logger,
    clock: management.clock,
  }))
    stack.use(subscription);

  const read = async (
    id: string,
  ): Promise<{ version: number; lifecycle_state: string; attributes: Record<string, unknown> }> =>
    (await management.pool.query('select version, lifecycle_state, attributes from resource where id = $1', [id]))
      .rows[0];

  /** Waits until the row satisfies the condition. */
  const until = (id: string, holds: (row: Awaited<ReturnType<typeof read>>) => boolean) =>
    waitUntil(() => read(id), { holds });

  /** Waits until the follower has handled every event committed so far, by a marker event behind them. */
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

  /** The clock of the service; disposing stops it. */
  const runClock = () =>
    startClock({ pool, execute, clock: management.clock, tasks: dueTasks, everyMs: 20, onError: () => undefined });

  /** Expects that a plan stays in effect until the later one takes effect in an hour, and ends then. */
  async function expectToEndInAnHour(world: World, earlier: ResourceView, later: ResourceView): Promise<void> {
    const stateOf = async ({ id }: ResourceView) => (await read(id)).lifecycle_state;
    await caughtUp(world);
    await using _clock = runClock();
    expect(await stateOf(earlier)).toBe('published');
    management.aheadMs += hour + 1000;
    await until(earlier.id, (row) => row.lifecycle_state === 'superseded');
    expect(await stateOf(later)).toBe('published');
  }

  const owned = stack.move();
  return {
    ...{ management, bus, read, until, caughtUp, encode, runClock, expectToEndInAnHour },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type Followed = Awaited<ReturnType<typeof startFollowed>>;
