import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import { createWorld, evenPlays, windowOf, type World } from './_support.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.isSampleAway = false;
  world.beforeSample = async () => undefined;
  world.plays = evenPlays(28, 48);
});

const traffic = { kind: 'traffic', window: windowOf(1, 8) };
const commandsOf = (jobId: string) => world.reportsOf(jobId).map(({ commandType }) => commandType);

test('a job that was announced is begun at once, and a failure of ours is reported after the third try', async () => {
  world.isSampleAway = true;
  const jobId = world.enqueue(traffic, 2);
  await until(() => world.reportsOf(jobId).length === 2);
  expect(commandsOf(jobId)).toEqual(['forecast.start', 'forecast.fail']);
  expect(JSON.parse(world.reportsOf(jobId)[1]!.changesJson)).toMatchObject({ problem: { code: 'forecast_gave_up' } });
});

test('a forecast that is cancelled, or whose lease is lost, ends without a report, and the next one is made', async () => {
  const held = Promise.withResolvers<void>();
  world.beforeSample = () => held.promise;
  for (const [workspaceId, ends] of [
    ['ws_1', world.stopped],
    ['ws_2', world.lost],
  ] as const) {
    const reads = world.sampleReads;
    // What is read goes on to be read after its job: another job of the same workspace would wait for that.
    const jobId = world.enqueue(traffic, 0, workspaceId);
    await until(() => world.sampleReads > reads);
    ends.add(jobId);
    // The only slot is free again: the next job ends, too.
    const next = world.enqueue(traffic, 3);
    await until(() => world.reportsOf(next).length === 1);
    expect([commandsOf(jobId), commandsOf(next)]).toEqual([['forecast.start'], ['forecast.fail']]);
  }
  held.resolve();
});

test('a job that management no longer knows is dropped', async () => {
  world.answers.push(new Problem('state_not_allowed'));
  const jobId = world.enqueue(traffic);
  const next = world.enqueue(traffic, 3);
  await until(() => world.reportsOf(next).length === 1);
  expect(commandsOf(jobId)).toEqual(['forecast.start']);
});
