import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { startClock } from '../src/background/clock.ts';
import type { DueTask } from '../src/background/due-task.ts';
import { dueTasks } from '../src/due-tasks.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const problems: string[] = [];
const start = (tasks: readonly DueTask[] = dueTasks) => {
  const { pool, execute, clock } = management;
  return startClock({
    pool,
    execute,
    clock,
    tasks,
    everyMs: 20,
    onError: (error, { name }) => problems.push(`${name}: ${String(error)}`),
  });
};

interface Row {
  readonly id: string;
  readonly version: number;
  readonly lifecycle_state: string;
  readonly attributes: Record<string, unknown>;
}
const untilState = (id: string, state: string) =>
  until(
    `${state} of ${id}`,
    async () => (await management.pool.query<Row>('select * from resource where id = $1', [id])).rows[0]!,
    { holds: (row) => row.lifecycle_state === state },
  );

async function schedule(world: World, inMs: number) {
  const episode = await world.playableEpisode();
  const publishAt = new Date(management.clock().getTime() + inMs).toISOString();
  return world.send('episode.schedule', episode, { publish_at: publishAt });
}

test('two clocks at once publish each episode once, with the date of its schedule', async () => {
  const world = createWorld(management);
  const episodes = [];
  for (let i = 0; i < 5; i++) episodes.push(await schedule(world, hour));
  await using _one = start();
  await using _two = start();
  management.aheadMs += hour + 1000;
  for (const { id, version, attributes } of episodes)
    expect(await untilState(id, 'published')).toMatchObject({
      version: version + 1,
      attributes: { published_at: attributes['publish_at'] },
    });
  const { rows } = await management.pool.query(
    `select count(*)::int as n from operation where workspace_id = $1 and command_type = 'episode.publish_due'`,
    [world.workspaceId],
  );
  expect(rows[0].n).toBe(5);
});

test('a clock that was stopped publishes late what became due meanwhile, and nothing early', async () => {
  const world = createWorld(management);
  const late = await schedule(world, 2 * hour);
  const later = await schedule(world, 4 * hour);
  await (async () => {
    await using _clock = start();
  })();
  management.aheadMs += 3 * hour;
  await using _clock = start();
  const published = await untilState(late.id, 'published');
  expect(published.attributes['published_at']).toBe(late.attributes['publish_at']);
  expect((await untilState(later.id, 'scheduled')).version).toBe(later.version);
});

test('an episode is published when its time has come, and not before', async () => {
  const world = createWorld(management);
  await using _clock = start();
  const episode = await schedule(world, 200);
  await untilState(episode.id, 'published');
  const lateMs = management.clock().getTime() - Date.parse(String(episode.attributes['publish_at']));
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThan(30_000);
});

test('an episode that lost its audio is tried once, and does not delay the others', async () => {
  const world = createWorld(management);
  const silent = await schedule(world, hour);
  await management.pool.query(`update resource set attributes = jsonb_set(attributes, '{files}', '[]') where id = $1`, [
    silent.attributes['current_production_id'],
  ]);
  const good = await schedule(world, hour);
  management.aheadMs += hour + 1000;
  problems.length = 0;
  await using _clock = start();
  await untilState(good.id, 'published');
  const next = await schedule(world, 200);
  await untilState(next.id, 'published');
  expect((await untilState(silent.id, 'scheduled')).version).toBe(silent.version);
  expect(problems.filter((text) => text.includes('still needs audio'))).toHaveLength(1);
});

test('a task whose query fails is reported, and the others go on', async () => {
  const world = createWorld(management);
  const broken: DueTask = {
    name: 'broken',
    findDue: async () => {
      throw new Error('no such table');
    },
    command: 'episode.publish_due',
    changes: () => ({}),
  };
  const episode = await schedule(world, 200);
  await using _clock = start([broken, ...dueTasks]);
  await untilState(episode.id, 'published');
  expect(problems).toContain('broken: Error: no such table');
});

test('a slow task does not delay the others', async () => {
  const world = createWorld(management);
  const freed = Promise.withResolvers<void>();
  const slow: DueTask = {
    name: 'slow',
    findDue: async () => {
      await freed.promise;
      return [];
    },
    command: 'episode.publish_due',
    changes: () => ({}),
  };
  const episode = await schedule(world, 200);
  const clock = start([slow, ...dueTasks]);
  await untilState(episode.id, 'published');
  freed.resolve();
  await clock[Symbol.asyncDispose]();
});

test('due episodes are found by an index, however many episodes there are', async () => {
  const client = await management.pool.connect();
  try {
    await client.query('begin');
    await client.query('set local enable_seqscan = off');
    const { rows } = await client.query(
      `explain select id from resource where resource_type = 'episodes' and lifecycle_state = 'scheduled'
       and (attributes ->> 'publish_at') collate "C" <= '2026' order by (attributes ->> 'publish_at') collate "C" limit 100`,
    );
    expect(JSON.stringify(rows)).toContain('resource_scheduled_episode');
  } finally {
    await client.query('rollback');
    client.release();
  }
});
