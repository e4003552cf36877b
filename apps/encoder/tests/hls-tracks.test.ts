import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import type { EncodingJobInput } from '@longwave/events';
import { cellIndexSchema } from '@longwave/hls-media';
import { createLogger } from '@longwave/service-kit';
import { bareEnvironment, until } from '@longwave/test-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { jobsOf, type Jobs, type Source } from './_jobs.ts';
import { makeSource, speech } from './_media.ts';
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

const settings = {
  production_id: 'pro_1',
  gain: { gain_db: 2, ceiling_db: -3 },
  silences: [[2900, 3300]] as [number, number][],
  markers_ms: [],
};

const enqueue = (
  source: Pick<Source, 'storageKey' | 'etag'>,
  changed: Partial<EncodingJobInput<'encode_hls_audio'>> = {},
) =>
  jobs.enqueue('encode_hls_audio', 'productions', 'pro_1', {
    ...settings,
    ...{ storage_key: source.storageKey, source_etag: source.etag },
    ...changed,
  });

const trackOf = async (jobId: string) => {
  const { commandType, changesJson } = await jobs.reportOf(jobId);
  expect(commandType).toBe('production.record_track');
  return productCatalog.commands['production.record_track'].changes.parse(JSON.parse(changesJson));
};

test('the track of a production is stored under its digests and reported; the progress of the production stays', async () => {
  const file = makeSource(world.folder, 'episode.flac', speech(7));
  const source = await jobs.upload(file);
  const tick = JSON.stringify({ production_id: 'pro_1', progress: 1, stage: 'done' });
  await world.redis.set('progress:pro_1', tick);
  const { track, file: made } = await trackOf(enqueue(source));
  expect(track).toBe('a192');
  const bytes = await buffer(await world.store.get(made.storage_key));
  const index = await buffer(await world.store.get(made.index.storage_key));
  for (const [blob, { storage_key, sha256, size_bytes }] of [
    [bytes, made],
    [index, made.index],
  ] as const) {
    expect(sha256).toBe(createHash('sha256').update(blob).digest('hex'));
    expect([storage_key, size_bytes]).toEqual([`media/${sha256}`, blob.length]);
  }
  const types = [made, made.index].map(async ({ storage_key: key }) => (await world.store.find(key))?.contentType);
  expect(await Promise.all(types)).toEqual(['audio/mp4', 'application/json']);
  // A cell begins in the middle of the silence.
  const starts = cellIndexSchema.parse(JSON.parse(index.toString())).cells.map(([, , start]) => start / 48);
  expect(starts.some((ms) => Math.abs(ms - 3100) < 11)).toBe(true);
  expect(await world.redis.get('progress:pro_1')).toBe(tick);
  await until(() => jobs.workFiles().length === 0);
});

test('a file that is not the one of the MP3 any more makes no track', async () => {
  const source = await jobs.upload(makeSource(world.folder, 'other.flac', speech(1)));
  const { commandType, changesJson } = await jobs.reportOf(enqueue(source, { source_sha256: '0'.repeat(64) }));
  expect(commandType).toBe('production.fail_track');
  expect(productCatalog.commands['production.fail_track'].changes.parse(JSON.parse(changesJson))).toEqual({
    track: 'a192',
    problem: { code: 'media_checksum_mismatch', detail: expect.stringContaining('no longer the one') },
  });
  expect(await world.mediaKeys()).toEqual([]);
});

test('after kill -9 in the middle of a track no ffmpeg is left, and another try gives the same digests', async () => {
  // Samples of a byte, 8000 a second, are soon made.
  const tone = ['-t', '60', '-c:a', 'pcm_u8'];
  const source = await jobs.upload(makeSource(world.folder, 'killed.wav', 'sine=f=440:r=8000', ...tone));
  await app[Symbol.asyncDispose]();
  const main = path.join(import.meta.dirname, '../src/main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { ...bareEnvironment, ...world.environment },
    stdio: 'inherit',
  });
  const exited = once(child, 'exit');
  const jobId = enqueue(source);
  const ffmpegs = () => jobs.ffmpegs(child.pid);
  await until(() => ffmpegs().some((line) => line.includes('adts')));
  child.kill('SIGKILL');
  await exited;
  await until(() => ffmpegs().length === 0);
  expect(await world.mediaKeys()).toEqual([]);

  app = await createApp(world.config, createLogger('encoder', 'silent'));
  world.management.expire(jobId);
  const first = await trackOf(jobId);
  expect(await trackOf(enqueue(source))).toEqual(first);
}, 120_000);

test('streams of an ad that were made before get the tracks of their loudness, and none of another', async () => {
  const source = await jobs.upload(makeSource(world.folder, 'old ad.wav', speech(1)));
  const input = {
    ...{ creative_id: 'crv_1', storage_key: source.storageKey, source_etag: source.etag },
    loudness_targets_lufs: [-20, -16],
  };
  const made = await jobs.reportOf(jobs.enqueue('encode_creative', 'creatives', 'crv_1', input));
  const { media } = productCatalog.commands['creative.record_media'].changes.parse(JSON.parse(made.changesJson));
  const [quiet, loud] = media.map(({ sha256, loudness_lufs }) => ({ sha256, loudness_lufs }));
  const later = (streams: readonly object[]) =>
    jobs.reportOf(jobs.enqueue('encode_creative_tracks', 'creatives', 'crv_1', { ...input, streams }));
  // One with the same bytes, and one that an earlier encoder made a tenth quieter.
  const other = { sha256: 'a'.repeat(64), loudness_lufs: quiet!.loudness_lufs! - 0.1 };
  expect(await later([loud!, other])).toMatchObject({
    commandType: 'creative.record_tracks',
    changesJson: JSON.stringify({
      tracks: [
        { stream: loud!.sha256, hls: media[1]!.hls },
        { stream: other.sha256, hls: media[0]!.hls },
      ],
    }),
  });
  const unlike = { ...other, loudness_lufs: -18 };
  expect(await later([loud!, unlike])).toMatchObject({
    commandType: 'creative.fail_tracks',
    changesJson: expect.stringContaining('another loudness'),
  });
});
