import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { canonicalFormat, checkCanonical, id3SizeBytes, renderId3 } from '@longwave/audio';
import { productCatalog } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { createLogger } from '@longwave/service-kit';
import { bareEnvironment, until } from '@longwave/test-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { cutFile, makeSource, speech } from './_media.ts';
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

test('a production is encoded, stored under its digests and reported by command, with progress on the way', async () => {
  const file = makeSource(world.folder, 'episode.flac', speech(20));
  const ticks: { progress: number; stage: string; production_id: string; at: number }[] = [];
  await using listening = new AsyncDisposableStack();
  const subscriber = listening.adopt(new Redis(world.config.REDIS_URL), (redis) => redis.disconnect());
  subscriber.on('message', (_channel, text: string) =>
    ticks.push({ ...(JSON.parse(text) as (typeof ticks)[number]), at: performance.now() }),
  );
  const source = await jobs.upload(file);
  const { jobId, productionId } = jobs.enqueueProduction(source);
  void subscriber.subscribe(`progress:${productionId}`);

  const report = await jobs.reportOf(jobId);
  const leaseId = world.management.leaseOf(jobId)!;
  expect(report).toMatchObject({
    workspaceId: 'ws_1',
    commandType: 'production.complete',
    idempotencyKey: `${jobId}:${leaseId}:complete`,
    ifMatch: '',
    subjectType: 'productions',
    subjectId: productionId,
    subjectVersion: undefined,
  });
  expect(JSON.parse(report.reasonJson)).toEqual({ lease_id: leaseId, job_id: jobId });
  const changes = JSON.parse(report.changesJson);
  const [rendition, waveform, given] = changes.files;
  const bytes = await buffer(await world.store.get(rendition.storage_key));
  expect(rendition).toEqual({
    role: 'rendition',
    format: 'mp3',
    stream_format: 'mp3/128000/48000/2',
    storage_key: `media/${createHash('sha256').update(bytes).digest('hex')}`,
    size_bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bitrate: 128000,
    duration_ms: 20016,
  });
  expect(checkCanonical(bytes)).toMatchObject({ canonical: true, durationMs: 20016 });
  const peaks = await buffer(await world.store.get(waveform.storage_key));
  expect(waveform).toEqual({
    role: 'waveform',
    format: 'json',
    storage_key: `media/${waveform.sha256}`,
    size_bytes: peaks.length,
    sha256: createHash('sha256').update(peaks).digest('hex'),
  });
  const original = readFileSync(file);
  expect(given).toEqual({
    role: 'source',
    format: path.extname(file).slice(1),
    storage_key: source.storageKey,
    size_bytes: original.length,
    sha256: createHash('sha256').update(original).digest('hex'),
  });
  expect((await world.store.find(waveform.storage_key))?.contentType).toBe('application/json');
  expect((await world.store.find(rendition.storage_key))?.contentType).toBe('audio/mpeg');
  expect(changes.audio_duration_ms).toBe(20016);
  expect(Math.abs(changes.loudness.output_lufs + 16)).toBeLessThanOrEqual(0.5);
  expect(changes.loudness.true_peak_dbtp).toBeLessThanOrEqual(-1);
  expect(typeof changes.loudness.input_lufs).toBe('number');
  const { input_lufs: inputLufs, output_lufs: outputLufs } = changes.loudness;
  expect(Math.abs(changes.gain.gain_db - (outputLufs - inputLufs))).toBeLessThanOrEqual(0.5);

  await until(() => ticks.at(-1)?.progress === 1);
  expect(ticks.map(({ progress }) => progress)).toEqual(ticks.map(({ progress }) => progress).sort((a, b) => a - b));
  expect(new Set(ticks.map((tick) => tick.production_id))).toEqual(new Set([productionId]));
  for (let i = 4; i < ticks.length; i++) expect(ticks[i]!.at - ticks[i - 4]!.at).toBeGreaterThan(900);
  expect(JSON.parse((await world.redis.get(`progress:${productionId}`))!)).toEqual({
    production_id: productionId,
    progress: 1,
    stage: 'done',
  });
  expect(await world.redis.ttl(`progress:${productionId}`)).toBeGreaterThan(3500);
  await until(() => jobs.workFiles().length === 0);
});

test('a creative is prepared at every loudness that is asked for and reported with its streams and their tracks', async () => {
  const source = await jobs.upload(makeSource(world.folder, 'ad.wav', speech(5)));
  const stored = { creative_id: 'crv_1', storage_key: source.storageKey, source_etag: source.etag };
  const prepare = async (loudness: object) => {
    for (const key of await world.mediaKeys()) await world.store.remove(key);
    const report = await jobs.reportOf(
      jobs.enqueue('encode_creative', 'creatives', 'crv_1', { ...stored, ...loudness }),
    );
    expect(report).toMatchObject({ commandType: 'creative.record_media', subjectId: 'crv_1' });
    return productCatalog.commands['creative.record_media'].changes.parse(JSON.parse(report.changesJson));
  };
  const { media, duration_ms } = await prepare({ loudness_targets_lufs: [-16, -20, -24] });
  expect(duration_ms).toBe(5016);
  expect(media.map(({ loudness_lufs }) => Math.round(loudness_lufs!))).toEqual([-24, -20, -16]);
  const read = async ({ storage_key, sha256 }: { readonly storage_key: string; readonly sha256: string }) => {
    const bytes = await buffer(await world.store.get(storage_key));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
    expect(storage_key).toBe(`media/${sha256}`);
    return bytes;
  };
  for (const stream of media) {
    const bytes = await read(stream);
    expect(stream).toMatchObject({ stream_format: canonicalFormat.name, size_bytes: bytes.length, duration_ms });
    expect(stream.true_peak_dbtp).toBeLessThanOrEqual(-1);
    const { index, ...track } = stream.hls!;
    expect(track).toMatchObject({ codec: 'mp4a.40.2', size_bytes: (await read(track)).length });
    expect(index.size_bytes).toBe((await read(index)).length);
  }
  const files = media.flatMap(({ storage_key, hls }) => [storage_key, hls!.storage_key, hls!.index.storage_key]);
  expect(await world.mediaKeys()).toEqual([...new Set(files)].sort());

  // As jobs were written when an ad had one loudness.
  const only = await prepare({ loudness_target_lufs: -19 });
  expect(only.media.map(({ loudness_lufs }) => Math.round(loudness_lufs!))).toEqual([-19]);
});

test.each(['intro', 'outro'] as const)('an %s is prepared and reported to its podcast', async (part) => {
  const source = await jobs.upload(makeSource(world.folder, `${part}.wav`, speech(3)));
  const input = {
    podcast_id: 'pod_1',
    part,
    storage_key: source.storageKey,
    source_etag: source.etag,
    loudness_target_lufs: -16,
  };
  const report = await jobs.reportOf(jobs.enqueue('encode_segment', 'podcasts', 'pod_1', input));
  expect(report).toMatchObject({
    commandType: `podcast.record_${part}`,
    subjectType: 'podcasts',
    subjectId: 'pod_1',
    subjectVersion: undefined,
  });
  const changes = productCatalog.commands[`podcast.record_${part}`].changes.parse(JSON.parse(report.changesJson));
  expect(changes.segment).toMatchObject({ stream_format: canonicalFormat.name, duration_ms: 3000 });
  const bytes = await buffer(await world.store.get(changes.segment.storage_key));
  expect(checkCanonical(bytes)).toMatchObject({ canonical: true, sizeBytes: changes.segment.size_bytes });
  const { hls } = changes.segment;
  expect(hls).toMatchObject({ codec: 'mp4a.40.2', duration_ms: Math.round((141 * 1024) / 48) });
  const keys = [changes.segment.storage_key, hls!.storage_key, hls!.index.storage_key];
  expect(await world.mediaKeys()).toEqual(keys.sort());

  const failed = { ...input, source_etag: 'of-another-file' };
  const failure = await jobs.reportOf(jobs.enqueue('encode_segment', 'podcasts', 'pod_1', failed));
  expect(failure).toMatchObject({ commandType: `podcast.fail_${part}`, subjectId: 'pod_1' });
  expect(productCatalog.commands[`podcast.fail_${part}`].changes.parse(JSON.parse(failure.changesJson))).toMatchObject({
    problem: { code: 'media_size_mismatch' },
  });
});

test('silences of what was encoded are reported with the production', async () => {
  const file = makeSource(world.folder, 'pause.wav', `${speech(4)},volume='if(between(t,1,2),0,1)':eval=frame`);
  const { jobId } = jobs.enqueueProduction(await jobs.upload(file));
  const { changesJson } = await jobs.reportOf(jobId);
  const { silences } = productCatalog.commands['production.complete'].changes.parse(JSON.parse(changesJson));
  expect(silences).toHaveLength(1);
  expect(Math.abs(silences![0]![0] - 1000)).toBeLessThan(50);
  expect(Math.abs(silences![0]![1] - 2000)).toBeLessThan(50);
});

test('chapters of the file are reported with the production', async () => {
  const chapters = [
    { startMs: 0, endMs: 1000, title: 'One' },
    { startMs: 2000, endMs: 4000, title: 'Two' },
  ];
  const content = { title: 'a', album: 'b', artist: 'c', lengthMs: 4000, chapters };
  const plain = readFileSync(makeSource(world.folder, 'plain.mp3', speech(4)));
  const file = path.join(world.folder, 'chapters.mp3');
  writeFileSync(file, Buffer.concat([renderId3(content, id3SizeBytes(content)), plain]));
  const { jobId } = jobs.enqueueProduction(await jobs.upload(file));
  const { changesJson } = await jobs.reportOf(jobId);
  expect(productCatalog.commands['production.complete'].changes.parse(JSON.parse(changesJson)).chapters).toEqual([
    { start_ms: 0, title: 'One', end_ms: 1000 },
    { start_ms: 2000, title: 'Two' },
  ]);
});

describe('a source outside the service', () => {
  const encode = async (url: string) => {
    const { jobId } = jobs.enqueueProduction({ url });
    const { commandType, changesJson } = await jobs.reportOf(jobId);
    await until(() => jobs.workFiles().length === 0);
    return { commandType, changes: JSON.parse(changesJson) as { problem: object; audio_duration_ms: number } };
  };
  const audio = () => readFileSync(makeSource(world.folder, 'outside.mp3', speech(2)));

  test('is fetched and encoded, behind redirects too', async () => {
    const address = world.web.serve('/outside.mp3', audio());
    const redirect = world.web.answer('/redirect.mp3', (_request, response) =>
      response.writeHead(302, { location: address }).end(),
    );
    const { commandType, changes } = await encode(redirect);
    expect(commandType).toBe('production.complete');
    expect(Math.abs(changes.audio_duration_ms - 2000)).toBeLessThan(80);
  });

  test('is fetched again when its host fails for a moment', async () => {
    const bytes = audio();
    let asked = 0;
    const address = world.web.answer('/flaky.mp3', (_request, response) => {
      asked++;
      if (asked === 1) return void response.writeHead(503).end();
      response.writeHead(200, { 'content-length': bytes.length });
      if (asked === 2) return void response.write(bytes.subarray(0, 1000), () => response.destroy());
      response.end(bytes);
    });
    expect((await encode(address)).commandType).toBe('production.complete');
    expect(asked).toBe(3);
  });

  const wrong: readonly (readonly [string, () => string, string, RegExp])[] = [
    ['is not there', () => `${world.web.origin}/none.mp3`, 'media_not_fetchable', /status 404/],
    ['lies in a private network', () => 'https://10.0.0.1/x.mp3', 'media_not_fetchable', /No public host/],
    ['is no audio', () => world.web.serve('/page', Buffer.from('<html>'.repeat(999))), 'media_not_audio', /Upload MP3/],
    ['is empty', () => world.web.serve('/empty.mp3', Buffer.alloc(0)), 'media_empty', /empty/],
  ];
  test.each(wrong)('is reported at once when it %s', async (_name, address, code, words) => {
    const { commandType, changes } = await encode(address());
    expect(commandType).toBe('production.fail');
    expect(changes.problem).toEqual({ code, detail: expect.stringMatching(words) });
  });
});

describe('a file at fault is reported at once and leaves nothing', () => {
  test('truncated, of another size or checksum than announced, and gone', async () => {
    const cut = await jobs.upload(cutFile(makeSource(world.folder, 'cut.m4a', speech(5)), 0.5));
    const other = await jobs.upload(makeSource(world.folder, 'size.mp3', speech(2)));
    const expected = [
      [jobs.enqueueProduction(cut), 'media_truncated'],
      [jobs.enqueueProduction({ ...other, sizeBytes: other.sizeBytes + 1 }), 'media_size_mismatch'],
      [jobs.enqueueProduction({ ...other, etag: 'of-another-file' }), 'media_size_mismatch'],
      [jobs.enqueueProduction({ ...other, sha256: '0'.repeat(64) }), 'media_checksum_mismatch'],
      [jobs.enqueueProduction({ storageKey: 'uploads/upl_none/x.mp3', sizeBytes: 1, etag: 'x' }), 'encoder_failed'],
    ] as const;
    for (const [{ jobId, productionId }, code] of expected) {
      const report = await jobs.reportOf(jobId);
      expect(report).toMatchObject({ commandType: 'production.fail', subjectId: productionId });
      expect(report.idempotencyKey).toMatch(/:fail$/);
      expect(JSON.parse(report.changesJson)).toEqual({ problem: { code, detail: expect.stringMatching(/\.$/) } });
      await until(async () => (await world.redis.exists(`progress:${productionId}`)) === 0);
    }
    expect(await world.mediaKeys()).toEqual([]);
    await until(() => jobs.workFiles().length === 0);
  });
});

test('a report that management cannot accept now is sent again under the same key', async () => {
  const { jobId } = jobs.enqueueProduction(await jobs.upload(makeSource(world.folder, 'retry.mp3', speech(2))));
  world.management.answers.push(new Problem('temporarily_unavailable'), new Problem('idempotency_in_progress'));
  await until(() => world.management.executed.length === 3);
  expect(new Set(world.management.executed.map((request) => request.idempotencyKey)).size).toBe(1);
  expect(world.management.executed[0]!.idempotencyKey).toMatch(new RegExp(`^${jobId}:`));
  expect(await world.mediaKeys()).toHaveLength(2);
});

test('a refused report leaves the objects that another job reported at the same time', async () => {
  const source = await jobs.upload(makeSource(world.folder, 'shared.mp3', speech(2)));
  for (let round = 0; round < 3; round++) {
    for (const key of await world.mediaKeys()) await world.store.remove(key);
    world.management.executed.length = 0;
    world.management.answers.push(new Problem('lease_lost'));
    const both = [jobs.enqueueProduction(source), jobs.enqueueProduction(source)];
    for (const { jobId } of both) await jobs.reportOf(jobId);
    await until(() => jobs.workFiles().length === 0);
    const [first, second] = world.management.executed.map(({ changesJson }) => JSON.parse(changesJson).files);
    expect(second).toEqual(first);
    const made = first.filter((file: { role: string }) => file.role !== 'source');
    expect(await world.mediaKeys()).toEqual(made.map((file: { storage_key: string }) => file.storage_key).sort());
  }
});

test('after kill -9 no ffmpeg is left, and another try gives the same digest', async () => {
  const source = await jobs.upload(
    makeSource(world.folder, 'killed.flac', 'sine=f=440:r=48000,tremolo=f=2', '-t', '120'),
  );
  await app[Symbol.asyncDispose]();
  const main = path.join(import.meta.dirname, '../src/main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { ...bareEnvironment, ...world.environment },
    stdio: 'inherit',
  });
  const exited = once(child, 'exit');
  const { jobId } = jobs.enqueueProduction(source);
  const ffmpegs = () => jobs.ffmpegs(child.pid);
  // The encoder and the decoder that measures its output.
  await until(() => ['libmp3lame', 'pipe:0'].every((word) => ffmpegs().some((line) => line.includes(word))));
  child.kill('SIGKILL');
  await exited;
  await until(() => ffmpegs().length === 0);
  expect(await world.mediaKeys()).toEqual([]);

  app = await createApp(world.config, createLogger('encoder', 'silent'));
  const folders = readdirSync(path.join(world.folder, 'work'));
  expect(folders).toEqual([`worker-${process.pid}`]);
  world.management.expire(jobId);
  const digestOf = async (id: string) =>
    JSON.parse(
      (await until(() => world.management.executed.find((r) => r.idempotencyKey.startsWith(`${id}:`)))).changesJson,
    ).files[0].sha256;
  const first = await digestOf(jobId);
  expect(await digestOf(jobs.enqueueProduction(source).jobId)).toBe(first);
}, 120_000);

test('a damaged MP3 and one that was cut off without a header are encoded with warnings, a whole one without', async () => {
  const bare = ['-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0'];
  const whole = makeSource(world.folder, 'whole.mp3', speech(60), ...bare);
  const bytes = readFileSync(whole);
  const damaged = Buffer.from(bytes);
  for (let i = 0; i < 120; i++)
    damaged.fill(
      0x5a,
      Math.floor((bytes.length * (i + 0.5)) / 120),
      Math.floor((bytes.length * (i + 0.5)) / 120) + 600,
    );
  const cut = bytes.subarray(0, Math.floor(bytes.length * 0.6) + 77);
  const warningsOf = async (name: string, content: Buffer) => {
    const file = path.join(world.folder, name);
    writeFileSync(file, content);
    const { commandType, changesJson } = await jobs.reportOf(jobs.enqueueProduction(await jobs.upload(file)).jobId);
    expect(commandType).toBe('production.complete');
    const changes = JSON.parse(changesJson) as { warnings?: object[] };
    expect(productCatalog.commands['production.complete'].changes.safeParse(changes).success).toBe(true);
    return changes.warnings;
  };
  expect(await warningsOf('whole.mp3', bytes)).toBeUndefined();
  expect(await warningsOf('damaged.mp3', damaged)).toEqual([
    {
      code: 'media_damaged',
      detail:
        'The file is damaged in 120 places, the first at 00:00:00. Sound may be missing there, or noise may be heard. Check the original and upload it again.',
      places: 120,
    },
  ]);
  const withHeader = readFileSync(makeSource(world.folder, 'header.mp3', speech(20), '-c:a', 'libmp3lame'));
  for (const at of [0.3, 0.6])
    withHeader.fill(0x5a, Math.floor(withHeader.length * at), Math.floor(withHeader.length * at) + 2000);
  expect(await warningsOf('damaged-header.mp3', withHeader)).toMatchObject([{ code: 'media_damaged' }]);
  expect(await warningsOf('cut.mp3', cut)).toEqual([
    {
      code: 'media_cut_off',
      detail:
        'The file ends in the middle of an audio frame, so its end may be missing. Compare its length with that of the original.',
    },
  ]);
});
