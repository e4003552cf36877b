import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { jobsOf, type Jobs, type Source } from './_jobs.ts';
import { makeSource } from './_media.ts';
import { startStallingProxy, type StallingProxy } from './_stalling-proxy.ts';
import { createWorld, type World } from './_support.ts';

let world: World;
let proxy: StallingProxy;
let app: EncoderApp;
let jobs: Jobs;
/** Forty minutes. */
let long: Source;
/** Two and a half minutes. */
let medium: Source;

beforeAll(async () => {
  world = await createWorld();
  jobs = jobsOf(world);
  const store = new URL(world.config.S3_ENDPOINT);
  proxy = await startStallingProxy({ host: store.hostname, port: Number(store.port) });
  const config = { ...world.config, S3_ENDPOINT: `http://127.0.0.1:${proxy.port}` };
  app = await createApp(config, createLogger('encoder', 'silent'));
  // Samples of a byte, 8000 a second, are soon made and few bytes, and take as long to measure as others.
  const tone = 'sine=f=300:r=8000';
  long = await jobs.upload(makeSource(world.folder, 'long.wav', tone, '-t', '2400', '-c:a', 'pcm_u8'));
  medium = await jobs.upload(makeSource(world.folder, 'medium.wav', tone, '-t', '150', '-c:a', 'pcm_u8'));
}, 240_000);
afterEach(() => {
  proxy.limit = null;
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const runs = (words: RegExp) => () => jobs.ffmpegs().some((line) => words.test(line));

/** Stops a job in the given phase and waits until its processes and files are gone. Answers how long that took. */
async function stopDuring(
  { jobId, productionId }: { readonly jobId: string; readonly productionId: string },
  phase: () => boolean | Promise<boolean>,
  how: 'stop' | 'loseLease' = 'stop',
): Promise<number> {
  await until(phase).catch((error: unknown) => {
    // Else it would hold the slot that the next test needs.
    world.management.stop(jobId);
    throw error;
  });
  const askedAt = performance.now();
  world.management[how](jobId);
  await until(() => jobs.ffmpegs().length === 0 && jobs.workFiles().length === 0);
  await until(async () => (await world.redis.exists(`progress:${productionId}`)) === 0);
  const tookMs = performance.now() - askedAt;
  expect(world.management.executed).toEqual([]);
  return tookMs;
}

test.each([
  ['measuring', /framecrc/, () => long],
  ['encoding and verifying', /pipe:0 .*s16le/, () => medium],
] as const)(
  'stopped while %s: within 5 seconds no ffmpeg runs and no file is left',
  async (_phase, command, source) => {
    expect(await stopDuring(jobs.enqueueProduction(source()), runs(command))).toBeLessThan(5_000);
    expect(await world.mediaKeys()).toEqual([]);
  },
  90_000,
);

test('a lost lease ends the work as a stop does', async () => {
  expect(await stopDuring(jobs.enqueueProduction(long), runs(/framecrc/), 'loseLease')).toBeLessThan(5_000);
});

test('stopped while a download stands still', async () => {
  proxy.limit = { direction: 'down', bytes: 1_000_000 };
  const job = jobs.enqueueProduction(long);
  expect(await stopDuring(job, () => proxy.stalled() > 0 && jobs.workFiles().length > 0)).toBeLessThan(5_000);
});

test('stopped while the host of an outside file sends nothing', async () => {
  let opened = false;
  const url = world.web.answer('/silent.mp3', (_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 }).write(Buffer.alloc(1000));
    opened = true;
  });
  expect(await stopDuring(jobs.enqueueProduction({ url }), () => opened)).toBeLessThan(5_000);
});

test('stopped while the upload of the result stands still', async () => {
  const job = jobs.enqueueProduction(medium);
  await until(runs(/pipe:0 .*s16le/));
  proxy.limit = { direction: 'up', bytes: 100_000 };
  expect(await stopDuring(job, () => proxy.stalled() > 0)).toBeLessThan(5_000);
  expect(await world.mediaKeys()).toEqual([]);
});

test('a short job does not wait for the long one that holds the only other slot', async () => {
  await app[Symbol.asyncDispose]();
  const config = { ...world.config, ENCODER_CONCURRENCY: 1, ENCODER_SHORT_CONCURRENCY: 1 };
  app = await createApp(config, createLogger('encoder', 'silent'));
  const held = world.web.answer('/held.mp3', (_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 }).write(Buffer.alloc(1000));
  });
  const [first, second] = [
    jobs.enqueueProduction({ url: held }, 0, 'long'),
    jobs.enqueueProduction({ url: held }, 0, 'long'),
  ];
  await until(() => world.management.leaseOf(first.jobId));
  const short = jobs.enqueueProduction(
    await jobs.upload(makeSource(world.folder, 'short.flac', 'sine=f=300', '-t', '2')),
  );
  expect((await jobs.reportOf(short.jobId)).commandType).toBe('production.complete');
  expect(world.management.leaseOf(second.jobId)).toBeUndefined();
  for (const { jobId } of [first, second]) world.management.stop(jobId);
  await until(() => world.management.leaseOf(second.jobId) && jobs.workFiles().length === 0);
  world.management.executed.length = 0;
});

test('a lease is renewed every two seconds, not more often', async () => {
  const { jobId } = jobs.enqueueProduction(long);
  const leaseId = await until(() => world.management.leaseOf(jobId));
  const startedAt = performance.now();
  const renewals = () => world.management.renewals.filter((renewed) => renewed === leaseId).length;
  await until(() => renewals() >= 2);
  expect(performance.now() - startedAt).toBeGreaterThan(3_500);
  world.management.stop(jobId);
  await until(() => jobs.workFiles().length === 0);
});
