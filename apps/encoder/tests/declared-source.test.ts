import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { makeSource, speech } from './_media.ts';
import { jobsOf, type Jobs } from './_jobs.ts';
import { createWorld, type World } from './_support.ts';

let world: World;
let app: EncoderApp;
let jobs: Jobs;

beforeAll(async () => {
  world = await createWorld();
  jobs = jobsOf(world);
  app = await createApp(world.config, createLogger('encoder', 'silent'));
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const key of await world.mediaKeys()) await world.store.remove(key);
  world.management.executed.length = 0;
});

describe('a source that its host has declared', () => {
  const declare = (bytes: Buffer) => ({
    sha256: createHash('sha256').update(bytes).digest('hex'),
    size_bytes: bytes.length,
  });
  const reported = async (url: string, declared: object) => {
    const { jobId } = jobs.enqueueProduction({ url, declared });
    const { commandType, changesJson } = await jobs.reportOf(jobId);
    await until(() => jobs.workFiles().length === 0);
    return { commandType, changes: JSON.parse(changesJson) as { problem: { code: string; detail: string } } };
  };
  const audio = () => readFileSync(makeSource(world.folder, 'declared.mp3', speech(2)));
  /** Without a length, so that only the bytes show it. */
  const streamed = (path: string, bytes: Buffer) =>
    world.web.answer(path, (_request, response) => void (response.write(bytes), response.end()));

  test('is encoded when length and digest are the declared ones', async () => {
    const bytes = audio();
    const { commandType } = await reported(world.web.serve('/declared.mp3', bytes), declare(bytes));
    expect(commandType).toBe('production.complete');
  });

  const other = (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]);
  test.each([
    ['has other bytes', (bytes: Buffer) => other(bytes)],
    ['is shorter', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['is longer', (bytes: Buffer) => Buffer.concat([bytes, bytes])],
  ])('is refused before it is encoded when it %s, whether or not the host says how long it is', async (_, change) => {
    const bytes = audio();
    const found = change(bytes);
    for (const url of [world.web.serve('/other.mp3', found), streamed('/streamed.mp3', found)]) {
      const { commandType, changes } = await reported(url, declare(bytes));
      expect(commandType).toBe('production.fail');
      expect(changes.problem.code).toBe('media_not_as_declared');
      expect(changes.problem.detail).toMatch(/Declare the file that is there\.$/);
    }
    expect(await world.mediaKeys()).toEqual([]);
  });
});
