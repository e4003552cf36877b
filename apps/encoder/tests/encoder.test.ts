import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { checkCanonical } from '@longwave/audio';
import { freePort } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { openChannel } from '@longwave/rpc';
import { ProbeServiceService, type ProbeResponse } from '@longwave/rpc/probe';
import { createLogger } from '@longwave/service-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { cutFile, makeSource, speech } from './_media.ts';
import { createWorld, eventually, type World } from './_support.ts';

let world: World;
let app: EncoderApp;
let count = 0;

beforeAll(async () => {
  world = await createWorld();
  app = await createApp(world.config, createLogger('encoder', 'silent'));
}, 30_000);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const key of await world.mediaKeys()) await world.store.remove(key);
  world.management.executed.length = 0;
});

interface Source {
  readonly storageKey: string;
  readonly sizeBytes: number;
  readonly etag: string;
}

async function upload(file: string, contentType = 'audio/mpeg'): Promise<Source> {
  const bytes = readFileSync(file);
  const storageKey = `uploads/upl_${++count}/${path.basename(file)}`;
  const { etag } = await world.store.put(storageKey, bytes, { contentType });
  return { storageKey, sizeBytes: bytes.length, etag };
}

function enqueueProduction(source: Source, attempt = 0): { jobId: string; productionId: string } {
  const [jobId, productionId] = [`job_${++count}`, newId('pro')];
  const input = {
    production_id: productionId,
    episode_id: 'ep_1',
    storage_key: source.storageKey,
    source_etag: source.etag,
    filename: path.basename(source.storageKey),
    declared_size_bytes: source.sizeBytes,
    loudness_target_lufs: -16,
    title: 'An episode',
    podcast_title: 'A podcast',
  };
  world.management.enqueue({
    jobId,
    kind: 'encode_production',
    subjectId: productionId,
    inputJson: JSON.stringify(input),
    attempt,
  });
  void world.redis.publish('longwave:jobs', '');
  return { jobId, productionId };
}

/** A source that takes far longer than any test waits. */
let long: Promise<Source> | undefined;
const uploadLong = () => (long ??= upload(makeSource(world.folder, 'long.flac', 'sine=f=300:r=48000', '-t', '2400')));

const reportOf = (jobId: string) =>
  eventually(() => world.management.executed.find((request) => request.idempotencyKey.startsWith(`${jobId}:`)));
const workFiles = () =>
  readdirSync(path.join(world.folder, 'work'), { recursive: true })
    .map(String)
    .filter((name) => !/^worker-\d+$/.test(name));
/** ffmpeg processes that read below the test's folder. */
const ffmpegs = () =>
  execFileSync('ps', ['-eo', 'args'])
    .toString()
    .split('\n')
    .filter((line) => /^(nice .*)?ff(mpeg|probe)/.test(line) && line.includes(world.folder));

test('a production is encoded, stored under its digests and reported by command, with progress on the way', async () => {
  const file = makeSource(world.folder, 'episode.flac', speech(20));
  const ticks: { progress: number; stage: string; production_id: string; at: number }[] = [];
  await using listening = new AsyncDisposableStack();
  const subscriber = listening.adopt(new Redis(world.config.REDIS_URL), (redis) => redis.disconnect());
  subscriber.on('message', (_channel, text: string) =>
    ticks.push({ ...(JSON.parse(text) as (typeof ticks)[number]), at: performance.now() }),
  );
  const source = await upload(file);
  const { jobId, productionId } = enqueueProduction(source);
  void subscriber.subscribe(`progress:${productionId}`);

  const report = await reportOf(jobId);
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
  const [rendition, waveform] = changes.files;
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
  expect((await world.store.find(waveform.storage_key))?.contentType).toBe('application/json');
  expect((await world.store.find(rendition.storage_key))?.contentType).toBe('audio/mpeg');
  expect(changes.audio_duration_ms).toBe(20016);
  expect(Math.abs(changes.loudness.output_lufs + 16)).toBeLessThanOrEqual(0.5);
  expect(changes.loudness.true_peak_dbtp).toBeLessThanOrEqual(-1);
  expect(typeof changes.loudness.input_lufs).toBe('number');

  await eventually(() => ticks.at(-1)?.progress === 1);
  expect(ticks.map(({ progress }) => progress)).toEqual(ticks.map(({ progress }) => progress).sort((a, b) => a - b));
  expect(new Set(ticks.map((tick) => tick.production_id))).toEqual(new Set([productionId]));
  for (let i = 4; i < ticks.length; i++) expect(ticks[i]!.at - ticks[i - 4]!.at).toBeGreaterThan(900);
  expect(JSON.parse((await world.redis.get(`progress:${productionId}`))!)).toEqual({
    production_id: productionId,
    progress: 1,
    stage: 'done',
  });
  expect(await world.redis.ttl(`progress:${productionId}`)).toBeGreaterThan(3500);
  await eventually(() => workFiles().length === 0);
});

test('a creative is prepared and reported with its media', async () => {
  const source = await upload(makeSource(world.folder, 'ad.wav', speech(5)));
  const input = {
    creative_id: 'crv_1',
    storage_key: source.storageKey,
    source_etag: source.etag,
    loudness_target_lufs: -19,
  };
  world.management.enqueue({
    jobId: 'job_c',
    kind: 'encode_creative',
    subjectType: 'creatives',
    subjectId: 'crv_1',
    inputJson: JSON.stringify(input),
  });
  const report = await reportOf('job_c');
  expect(report).toMatchObject({ commandType: 'creative.record_media', subjectType: 'creatives', subjectId: 'crv_1' });
  const { media, duration_ms } = JSON.parse(report.changesJson);
  expect(media).toHaveLength(1);
  expect(Object.keys(media[0])).toEqual([
    'stream_format',
    'storage_key',
    'sha256',
    'size_bytes',
    'duration_ms',
    'loudness_lufs',
    'true_peak_dbtp',
  ]);
  expect(Math.abs(media[0].loudness_lufs + 19)).toBeLessThanOrEqual(0.5);
  expect(duration_ms).toBe(media[0].duration_ms);
  expect(await world.mediaKeys()).toEqual([media[0].storage_key]);
});

describe('a file at fault is reported at once and leaves nothing', () => {
  test('truncated, of another size than announced, and gone', async () => {
    const cut = await upload(cutFile(makeSource(world.folder, 'cut.m4a', speech(5)), 0.5));
    const other = await upload(makeSource(world.folder, 'size.mp3', speech(2)));
    const jobs = [
      [enqueueProduction(cut), 'media_truncated'],
      [enqueueProduction({ ...other, sizeBytes: other.sizeBytes + 1 }), 'media_size_mismatch'],
      [enqueueProduction({ ...other, etag: 'of-another-file' }), 'media_size_mismatch'],
      [enqueueProduction({ storageKey: 'uploads/upl_none/x.mp3', sizeBytes: 1, etag: 'x' }), 'encoder_failed'],
    ] as const;
    for (const [{ jobId, productionId }, code] of jobs) {
      const report = await reportOf(jobId);
      expect(report).toMatchObject({ commandType: 'production.fail', subjectId: productionId });
      expect(report.idempotencyKey).toMatch(/:fail$/);
      expect(JSON.parse(report.changesJson)).toEqual({ problem: { code, detail: expect.stringMatching(/\.$/) } });
      await eventually(async () => (await world.redis.exists(`progress:${productionId}`)) === 0);
    }
    expect(await world.mediaKeys()).toEqual([]);
    await eventually(() => workFiles().length === 0);
  });
});

test('a report that management cannot take now is sent again under the same key', async () => {
  const { jobId } = enqueueProduction(await upload(makeSource(world.folder, 'retry.mp3', speech(2))));
  world.management.answers.push(new Problem('temporarily_unavailable'), new Problem('idempotency_in_progress'));
  await eventually(() => world.management.executed.length === 3);
  expect(new Set(world.management.executed.map((request) => request.idempotencyKey)).size).toBe(1);
  expect(world.management.executed[0]!.idempotencyKey).toMatch(new RegExp(`^${jobId}:`));
  expect(await world.mediaKeys()).toHaveLength(2);
});

test('a refused report leaves no new object, and keeps one that others had before', async () => {
  const source = await upload(makeSource(world.folder, 'refused.mp3', speech(2)));
  world.management.answers.push(new Problem('lease_lost'));
  await reportOf(enqueueProduction(source).jobId);
  await eventually(async () => (await world.mediaKeys()).length === 0);

  await reportOf(enqueueProduction(source).jobId);
  const kept = await world.mediaKeys();
  expect(kept).toHaveLength(2);
  world.management.answers.push(new Problem('lease_lost'));
  await reportOf(enqueueProduction(source).jobId);
  await eventually(() => workFiles().length === 0);
  expect(await world.mediaKeys()).toEqual(kept);
});

describe('work ends within 5 seconds and leaves nothing', () => {
  test.each(['stop', 'loseLease'] as const)('after %s', async (end) => {
    const { jobId, productionId } = enqueueProduction(await uploadLong());
    await eventually(() => ffmpegs().some((line) => line.includes('ebur128')));
    await eventually(async () => (await world.redis.exists(`progress:${productionId}`)) === 1);
    const askedAt = performance.now();
    world.management[end](jobId);
    await eventually(() => ffmpegs().length === 0);
    await eventually(() => workFiles().length === 0);
    await eventually(async () => (await world.redis.exists(`progress:${productionId}`)) === 0);
    expect(performance.now() - askedAt).toBeLessThan(5_000);
    expect(world.management.executed).toEqual([]);
    expect(await world.mediaKeys()).toEqual([]);
  });
});

test('a lease is renewed while the work lasts', async () => {
  const { jobId } = enqueueProduction(await uploadLong());
  const leaseId = await eventually(() => world.management.leaseOf(jobId));
  await eventually(() => world.management.renewals.filter((renewed) => renewed === leaseId).length >= 2);
  world.management.stop(jobId);
  await eventually(() => workFiles().length === 0);
});

test('trouble of ours is not reported before the fifth try', async () => {
  const source = { storageKey: 'uploads/upl_0/x.mp3', sizeBytes: 1, etag: 'x' };
  await using ended = new AsyncDisposableStack();
  const noStore = {
    ...world.config,
    S3_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    ENCODER_WORK_FOLDER: path.join(world.folder, 'work2'),
  };
  await app[Symbol.asyncDispose]();
  try {
    ended.use(await createApp(noStore, createLogger('encoder', 'silent')));
    const [first, fifth, sixth] = [
      enqueueProduction(source),
      enqueueProduction(source, 4),
      enqueueProduction(source, 5),
    ];
    for (const { jobId } of [fifth, sixth]) {
      const report = await reportOf(jobId);
      expect(report.commandType).toBe('production.fail');
      expect(JSON.parse(report.changesJson).problem.code).toBe('encoder_failed');
    }
    await eventually(() => readdirSync(path.join(world.folder, 'work2'), { recursive: true }).length === 1);
    expect(world.management.leaseOf(first.jobId)).toBeDefined();
    expect(world.management.executed.filter((request) => request.subjectId === first.productionId)).toEqual([]);
  } finally {
    await ended.disposeAsync();
    app = await createApp(world.config, createLogger('encoder', 'silent'));
  }
});

test('after kill -9 no ffmpeg is left, and another try gives the same digest', async () => {
  const source = await upload(makeSource(world.folder, 'killed.flac', 'sine=f=440:r=48000,tremolo=f=2', '-t', '300'));
  await app[Symbol.asyncDispose]();
  const main = path.join(import.meta.dirname, '../src/main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { ...world.environment, PATH: process.env['PATH'] },
    stdio: 'inherit',
  });
  const exited = once(child, 'exit');
  const { jobId } = enqueueProduction(source);
  await eventually(() => ffmpegs().some((line) => line.includes('libmp3lame')), 60_000);
  child.kill('SIGKILL');
  await exited;
  await eventually(() => ffmpegs().length === 0, 5_000);
  expect(await world.mediaKeys()).toEqual([]);

  app = await createApp(world.config, createLogger('encoder', 'silent'));
  const folders = readdirSync(path.join(world.folder, 'work'));
  expect(folders).toEqual([`worker-${process.pid}`]);
  world.management.expire(jobId);
  const digestOf = async (id: string) =>
    JSON.parse(
      (await eventually(() => world.management.executed.find((r) => r.idempotencyKey.startsWith(`${id}:`)), 60_000))
        .changesJson,
    ).files[0].sha256;
  const first = await digestOf(jobId);
  expect(await digestOf(enqueueProduction(source).jobId)).toBe(first);
}, 120_000);

describe('Probe', () => {
  async function probe(
    storageKey: string,
    caller: 'management' | 'public-delivery' = 'management',
  ): Promise<ProbeResponse['outcome']> {
    const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'encoder', world.tls(caller));
    try {
      return (await channel.client(ProbeServiceService).probe({ storageKey }, { deadlineMs: 10_000 })).outcome;
    } finally {
      channel.close();
    }
  }
  const put = async (name: string, bytes: string | Buffer) => {
    const key = `uploads/upl_probe/${name}`;
    await world.store.put(key, Buffer.from(bytes), { contentType: 'audio/mpeg' });
    return key;
  };

  test('tells what an object holds without downloading it', async () => {
    const { storageKey } = await upload(makeSource(world.folder, 'probe me.m4a', speech(5)));
    expect(await probe(storageKey)).toMatchObject({
      $case: 'audio',
      value: { codec: 'aac', sampleRate: 44100, channels: 1 },
    });
    const { storageKey: mp3 } = await upload(makeSource(world.folder, 'probe.mp3', speech(5), '-b:a', '96k'));
    const outcome = await probe(mp3);
    expect(outcome).toMatchObject({ $case: 'audio', value: { container: 'mp3', codec: 'mp3', bitrate: 96000 } });
    expect(Math.abs(Number((outcome as { value: { durationMs: bigint } }).value.durationMs) - 5000)).toBeLessThan(100);
  });

  test('names what is wrong with a file', async () => {
    const cut = cutFile(makeSource(world.folder, 'probe-cut.wav', speech(3)), 0.7);
    expect(await probe(await put('empty.mp3', ''))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_empty' },
    });
    expect(await probe(await put('text.mp3', 'hello\n'.repeat(2000)))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_not_audio' },
    });
    expect(await probe(await put('cut.wav', readFileSync(cut)))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_truncated' },
    });
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nhttp://${world.management.address}/a.ts\n#EXT-X-ENDLIST\n`;
    expect(await probe(await put('list.m3u8', playlist))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_not_audio' },
    });
  });

  test('a missing object is a problem, and only its callers may ask', async () => {
    await expect(probe('uploads/upl_none/x.mp3')).rejects.toMatchObject({ code: 'object_not_found' });
    await expect(probe('uploads/upl_none/x.mp3', 'public-delivery')).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });
});
