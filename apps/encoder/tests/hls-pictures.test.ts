import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog, type ChangesOf } from '@longwave/command-catalog';
import { tryParseTick, type EncodingJobInput } from '@longwave/events';
import { cellIndexSchema, durationTicks, indexFragments, type CellIndex } from '@longwave/hls-media';
import { createLogger } from '@longwave/service-kit';
import { progressKeyOf } from '@longwave/services';
import { bareEnvironment, ffmpeg, until } from '@longwave/test-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { jobsOf, type Jobs, type Source } from './_jobs.ts';
import { speech } from './_media.ts';
import { createWorld, type World } from './_support.ts';

let world: World;
let app: EncoderApp;
let jobs: Jobs;
/** Its picture is 4.2 s long; its sound begins 0.4 s later and is 4.5 s long. */
let film: Source;
let sound: ChangesOf<'production.record_track'>['file'];
let soundIndex: CellIndex;

const commands = productCatalog.commands;
type TrackName = EncodingJobInput<'encode_hls_video'>['track'];

const bytesOf = async (key: string) => buffer(await world.store.get(key));
const indexOf = async ({ index }: { readonly index: { readonly storage_key: string } }) =>
  cellIndexSchema.parse(JSON.parse((await bytesOf(index.storage_key)).toString()));

/** A film: pictures that brighten for a second each, and speech that begins 0.4 s after them. */
function makeFilm(): string {
  const file = path.join(world.folder, 'film.mp4');
  const picture = "color=black:size=160x120:rate=25:duration=4.2,format=yuv420p,geq=lum='16+8*mod(N,25)':cb=128:cr=128";
  ffmpeg(
    ...['-f', 'lavfi', '-i', picture, '-itsoffset', '0.4', '-f', 'lavfi', '-i', speech(4.5)],
    ...['-map', '0:v', '-map', '1:a', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', file],
  );
  return file;
}

beforeAll(async () => {
  world = await createWorld();
  jobs = jobsOf(world);
  app = await createApp(world.config, createLogger('encoder', 'silent'));
  film = await jobs.upload(makeFilm());
  const heard = await jobs.reportOf(
    jobs.enqueue('encode_hls_audio', 'productions', 'pro_1', {
      ...{ production_id: 'pro_1', storage_key: film.storageKey, source_etag: film.etag },
      ...{ gain: { gain_db: 2, ceiling_db: -3 }, silences: [], markers_ms: [] },
    }),
  );
  sound = commands['production.record_track'].changes.parse(JSON.parse(heard.changesJson)).file;
  soundIndex = await indexOf(sound);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const enqueue = (track: TrackName, source: Pick<Source, 'storageKey' | 'etag'> = film, changed: object = {}) =>
  jobs.enqueue('encode_hls_video', 'productions', 'pro_1', {
    ...{ production_id: 'pro_1', storage_key: source.storageKey, source_etag: source.etag, track },
    sound_index: { storage_key: sound.index.storage_key, sha256: sound.index.sha256 },
    ...changed,
  });

async function picturesOf(jobId: string) {
  const { commandType, changesJson } = await jobs.reportOf(jobId);
  expect(commandType).toBe('production.record_track');
  const { file, ...others } = commands['production.record_track'].changes.parse(JSON.parse(changesJson));
  if (!('width' in file)) throw new Error('pictures have a size');
  return { ...others, file };
}

async function problemOf(jobId: string) {
  const { commandType, changesJson } = await jobs.reportOf(jobId);
  expect(commandType).toBe('production.fail_track');
  return commands['production.fail_track'].changes.parse(JSON.parse(changesJson));
}

test.each([
  ['v360', '640x360 avc1.4d401e'],
  ['v480', '854x480 avc1.4d401f'],
  ['v720', '1280x720 avc1.64001f'],
  ['v1080', '1920x1080 avc1.640028'],
] as const)(
  '%s has the cells of the sound, to the nearest picture, and lasts as long',
  async (track, expected) => {
    const made = await picturesOf(enqueue(track));
    expect(made).toMatchObject({ track, picture: { width: 160, height: 120, frame_rate: { frames: 25, seconds: 1 } } });
    const { file } = made;
    expect(`${file.width}x${file.height} ${file.codec}`).toBe(expected);
    expect(file.frame_rate).toEqual({ frames: 25, seconds: 1 });
    expect((await world.store.find(file.storage_key))?.contentType).toBe('video/mp4');
    const bytes = await bytesOf(file.storage_key);
    const index = await indexOf(file);
    expect((await indexFragments((from, to) => bytes.subarray(from, to), bytes.length)).index).toEqual(index);
    expect(index.cells.length).toBe(soundIndex.cells.length);
    const distances = index.cells.map(
      ([, , start], at) => start / index.timescale - soundIndex.cells[at]![2] / soundIndex.timescale,
    );
    for (const seconds of [...distances, (file.duration_ms - sound.duration_ms) / 1000])
      expect(Math.abs(seconds)).toBeLessThanOrEqual(0.5 / 25 + 0.001);

    // The judge: each cell begins with the only key frame in it, and decodes alone into all its pictures.
    const [offset, length, , ticks] = index.cells[1]!;
    const alone = Buffer.concat([bytes.subarray(0, index.init), bytes.subarray(offset, offset + length)]);
    const show = ['-show_entries', 'frame=key_frame', '-of', 'csv=p=0'];
    const frames = execFileSync('ffprobe', ['-v', 'error', ...show, 'pipe:0'], { input: alone }).toString();
    const keys = frames
      .trim()
      .split(/\s+/)
      .map((line) => line.replace(',', ''));
    expect(keys).toEqual(['1', ...Array<string>((ticks * 25) / index.timescale - 1).fill('0')]);
  },
  30_000,
);

test('a track tells how far it is under its own name, and leaves nothing of that when it is made', async () => {
  const key = `${progressKeyOf('pro_1')}:v360`;
  const ticks: string[] = [];
  const follower = world.redis.duplicate();
  await follower.subscribe(key);
  follower.on('message', (_channel, text) => ticks.push(text));
  await picturesOf(enqueue('v360'));
  await until(async () => (await world.redis.get(key)) === null);
  follower.disconnect();
  const progress = ticks.map((text) => tryParseTick(text)!.progress);
  expect(progress.length).toBeGreaterThan(0);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.every((each) => each > 0 && each <= 1)).toBe(true);
});

test('pictures for seeking are two a second to the end of the sound', async () => {
  const { file } = await picturesOf(enqueue('iframe'));
  expect(file).toMatchObject({ width: 640, height: 360, frame_rate: { frames: 2, seconds: 1 } });
  const index = await indexOf(file);
  expect(index.cells.length).toBe(Math.round((durationTicks(soundIndex) * 2) / soundIndex.timescale));
});

test('pictures are in time with the sound as it is encoded: they begin later in the source, and the last one is held', async () => {
  const { file } = await picturesOf(enqueue('v360'));
  const args = ['-v', 'error', '-i', 'pipe:0', '-vf', 'crop=2:2:iw/2:ih/2,extractplanes=y', '-f', 'rawvideo', 'pipe:1'];
  const bytes = execFileSync('ffmpeg', args, { input: await bytesOf(file.storage_key) });
  const steps = [...bytes].filter((_luma, at) => at % 4 === 0).map((luma) => Math.round((luma - 16) / 8));
  // The sound begins with the eleventh picture; the last is number 105.
  const length = Math.round((durationTicks(soundIndex) * 25) / soundIndex.timescale);
  const expected = Array.from({ length }, (_none, at) => Math.min(at + 10, 104) % 25);
  expect(steps.length).toBe(length);
  expect(steps.filter((step, at) => Math.abs(((step - expected[at]! + 37) % 25) - 12) > 1)).toEqual([]);
});

test('the same file gives the same bytes, and the size of the picture is that in which it is shown', async () => {
  const turned = path.join(world.folder, 'turned.mp4');
  ffmpeg('-i', path.join(world.folder, 'film.mp4'), '-c', 'copy', '-metadata:s:v', 'rotate=90', turned);
  const source = await jobs.upload(turned);
  const [one, other] = await Promise.all([0, 1].map(() => picturesOf(enqueue('iframe', source))));
  expect(one!.picture).toMatchObject({ width: 120, height: 160 });
  expect(one).toEqual(other);
});

test('a cover image is no picture, and a file of sound gets the reason in words', async () => {
  const cover = path.join(world.folder, 'cover.png');
  ffmpeg('-f', 'lavfi', '-i', 'color=red:size=64x64', '-frames:v', '1', cover);
  const tone = path.join(world.folder, 'tone.m4a');
  ffmpeg('-f', 'lavfi', '-i', 'sine=duration=2', '-c:a', 'aac', path.join(world.folder, 'bare.m4a'));
  const inputs = ['-i', path.join(world.folder, 'bare.m4a'), '-i', cover, '-map', '0', '-map', '1', '-c', 'copy'];
  ffmpeg(...inputs, '-disposition:v:0', 'attached_pic', tone);
  const source = await jobs.upload(tone);
  expect(await problemOf(enqueue('v720', source))).toEqual({
    track: 'v720',
    problem: { code: 'media_without_picture', detail: expect.stringContaining('no moving picture') },
  });
  const { jobId } = jobs.enqueueProduction(source);
  const { changesJson } = await jobs.reportOf(jobId);
  expect(JSON.parse(changesJson)).not.toHaveProperty('picture');
});

test('an encoding says which picture its source has', async () => {
  const { changesJson } = await jobs.reportOf(jobs.enqueueProduction(film).jobId);
  const { picture } = commands['production.complete'].changes.parse(JSON.parse(changesJson));
  expect(picture).toEqual({ width: 160, height: 120, frame_rate: { frames: 25, seconds: 1 } });
});

test('a picture that cannot be decoded, and another file, fail their track with the reason', async () => {
  const bytes = readFileSync(path.join(world.folder, 'film.mp4'));
  // The name of the codec in the sample entry and the coded pictures: what is left is sound.
  const broken = path.join(world.folder, 'broken.mp4');
  const entry = bytes.indexOf('avcC');
  bytes.fill(0xff, entry + 4, entry + 40);
  execFileSync('tee', [broken], { input: bytes, stdio: ['pipe', 'ignore', 'inherit'] });
  expect((await problemOf(enqueue('iframe', await jobs.upload(broken)))).problem.code).toBe('media_unsupported_codec');
  const other = await problemOf(enqueue('v720', film, { source_sha256: '0'.repeat(64) }));
  expect(other).toMatchObject({ track: 'v720', problem: { code: 'media_checksum_mismatch' } });
});

test('after kill -9 in the middle of the pictures no ffmpeg is left, and another try makes them', async () => {
  await app[Symbol.asyncDispose]();
  const main = path.join(import.meta.dirname, '../src/main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { ...bareEnvironment, ...world.environment },
    stdio: 'inherit',
  });
  const exited = once(child, 'exit');
  const jobId = enqueue('v1080');
  const ffmpegs = () => jobs.ffmpegs(child.pid);
  await until(() => ffmpegs().some((line) => line.includes('libx264')));
  child.kill('SIGKILL');
  await exited;
  await until(() => ffmpegs().length === 0);

  app = await createApp(world.config, createLogger('encoder', 'silent'));
  world.management.expire(jobId);
  expect((await picturesOf(jobId)).track).toBe('v1080');
}, 120_000);

/** The pictures of an ad with the cells of the film's sound. */
async function adPicturesOf(source: object) {
  const sound_index = { storage_key: sound.index.storage_key, sha256: sound.index.sha256 };
  const input = { creative_id: 'crv_1', sound_index, ...source };
  const { commandType, changesJson } = await jobs.reportOf(
    jobs.enqueue('encode_creative_pictures', 'creatives', 'crv_1', input),
  );
  expect(commandType).toBe('creative.record_pictures');
  return commands['creative.record_pictures'].changes.parse(JSON.parse(changesJson));
}

test('an ad of sound gets a still picture, and an ad with a picture its own, both as long as the sound', async () => {
  const still = await adPicturesOf({});
  const own = await adPicturesOf({ storage_key: film.storageKey, source_etag: film.etag });
  for (const made of [still, own]) {
    const sizes = Object.entries(made).map(([name, { width, height }]) => `${name} ${width}x${height}`);
    expect(sizes).toEqual(['v360 640x360', 'v720 1280x720', 'v1080 1920x1080', 'iframe 640x360']);
    for (const { duration_ms: ms, frame_rate: rate } of Object.values(made))
      expect(Math.abs(ms - sound.duration_ms)).toBeLessThanOrEqual((500 * rate.seconds) / rate.frames + 1);
  }
  const frames = async (key: string) => {
    const args = ['-v', 'error', '-i', 'pipe:0', '-vf', 'scale=16:9,format=gray', '-f', 'rawvideo', 'pipe:1'];
    const bytes = execFileSync('ffmpeg', args, { input: await bytesOf(key) });
    return [bytes.subarray(0, 144), bytes.subarray(-144)] as const;
  };
  const [first, last] = await frames(still.v720.storage_key);
  expect(Math.max(...first.map((luma, at) => Math.abs(luma - last[at]!)))).toBeLessThan(6);
  // Light bars in the middle, dark corners.
  expect(first[4 * 16 + 8]! - first[0]!).toBeGreaterThan(40);
});

test('an ad that should have a picture of its own is refused without one', async () => {
  const silent = path.join(world.folder, 'sound only.mp4');
  ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'aac', silent);
  const { storageKey, etag } = await jobs.upload(silent);
  const input = {
    ...{ creative_id: 'crv_1', storage_key: storageKey, source_etag: etag },
    ...{ loudness_targets_lufs: [-16], needs_picture: true },
  };
  const { commandType, changesJson } = await jobs.reportOf(
    jobs.enqueue('encode_creative', 'creatives', 'crv_1', input),
  );
  expect(commandType).toBe('creative.fail_media');
  expect(JSON.parse(changesJson)).toMatchObject({ problem: { code: 'media_without_picture' } });
});
