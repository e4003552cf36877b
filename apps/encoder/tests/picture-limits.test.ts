import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, test } from '@jest/globals';
import type { CellIndex } from '@longwave/hls-media';
import type { ObjectStore } from '@longwave/object-store';
import { ffmpeg } from '@longwave/test-kit';
import { makeStillPictures, makeVideo } from '../src/jobs/make-pictures.ts';
import { encodePictures } from '../src/media/encode-pictures.ts';
import { inspectPicture } from '../src/media/inspect-source.ts';
import { stillCard } from '../src/media/still-card.ts';
import { temporaryFolder } from './_media.ts';

const temporary = temporaryFolder();
const folder = temporary.path;
afterAll(() => temporary[Symbol.dispose]());
const { signal } = new AbortController();

/** The index of a sound of so many seconds, in one cell. */
const sound = (seconds: number): CellIndex => ({
  ...{ timescale: 48_000, init: 1, bytes: 2 },
  cells: [[1, 1, 0, seconds * 48_000]],
});

/** A film of one second with ten pictures. */
function makeFilm(name: string, size: string, ...options: readonly string[]): string {
  const file = path.join(folder, name);
  const picture = ['-f', 'lavfi', '-i', `color=white:size=${size}:rate=10:duration=1`];
  ffmpeg(...picture, '-f', 'lavfi', '-i', 'sine=duration=1', ...options, '-c:a', 'aac', file);
  return file;
}
const mjpeg = ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'];

/** A workplace whose store has the index of a sound, and answers each file that it is given. */
function workplaceOf(index: CellIndex, stored: (key: string) => void = () => undefined) {
  const json = Buffer.from(JSON.stringify(index));
  const store: Partial<ObjectStore> = {
    get: async () => Readable.from([json]),
    put: async (key, body) => {
      if (body instanceof Readable) for await (const _chunk of body);
      stored(key);
      return { etag: '"e"' };
    },
  };
  // What the making of pictures uses of a store.
  const place = { store: store as ObjectStore, folder, signal, progress: { report: () => undefined } };
  return { place, sound_index: { storage_key: 'media/i', sha256: createHash('sha256').update(json).digest('hex') } };
}
const ad = { kind: 'encode_creative_pictures', creative_id: 'crv_1' } as const;
const episode = {
  kind: 'encode_hls_video',
  production_id: 'pro_1',
  storage_key: 'uploads/a',
  source_etag: 'e',
  track: 'v720',
} as const;

test('a file whose pixels make its picture too wide, or whose codec is not taken, is refused before it is decoded', async () => {
  const stretched = makeFilm('stretched.mkv', '64x200', ...['-c:v', 'libx264', '-vf', 'setsar=sar=2000/1:max=2000']);
  await expect(inspectPicture(stretched, signal)).rejects.toMatchObject({
    code: 'media_picture_beyond_limits',
    message: expect.stringContaining('128000 x 200 pixels'),
  });
  const old = makeFilm('old.avi', '64x64', '-c:v', 'msmpeg4v2');
  await expect(inspectPicture(old, signal)).rejects.toMatchObject({
    code: 'media_unsupported_codec',
    message: expect.stringContaining('"msmpeg4v2"'),
  });
});

test('the decoder makes no picture beyond the limit, whatever the file has said of itself', async () => {
  const { source } = await inspectPicture(makeFilm('small.mov', '64x64', ...mjpeg), signal);
  const large = makeFilm('large.mov', '4200x2304', ...mjpeg, '-frames:v', '2');
  const encoding = encodePictures({
    ...{ name: 'v360', sound: sound(1), outputPath: path.join(folder, 'large.mp4'), signal },
    source: { ...source, input: [...source.input.slice(0, -1), `file:${large}`] },
  });
  await expect(encoding).rejects.toMatchObject({ code: 'media_unsupported_codec' });
});

test('an encoding that takes longer than it may is ended with the reason in words, and leaves no file', async () => {
  const outputPath = path.join(folder, 'slow.mp4');
  const encoding = encodePictures({
    ...{ name: 'v1080', source: stillCard, sound: sound(3600), outputPath, maxMs: 300, signal },
  });
  await expect(encoding).rejects.toMatchObject({
    code: 'media_picture_beyond_limits',
    message: expect.stringContaining('takes too long'),
  });
  expect(readdirSync(folder).filter((name) => name.startsWith('slow'))).toEqual([]);
});

test('a source is not fetched for sound that is too long to get pictures', async () => {
  const { place, sound_index } = workplaceOf(sound(4 * 3600 + 1));
  const fetch = () => Promise.reject(new Error('fetched'));
  await expect(makeVideo({ ...episode, sound_index }, place, fetch)).rejects.toMatchObject({
    code: 'media_picture_beyond_limits',
    message: expect.stringContaining('longer than 4 hours'),
  });
});

test('each size of an ad is gone from the disk once it is stored', async () => {
  const kept: string[][] = [];
  const files = () => readdirSync(folder).filter((name) => /^(v\d+|iframe)\.mp4$/.test(name));
  const { place, sound_index } = workplaceOf(sound(1), () => kept.push(files()));
  await makeStillPictures({ ...ad, sound_index }, place);
  expect(kept.map((names) => names.join())).toEqual(
    ['v360', 'v720', 'v1080', 'iframe'].flatMap((name) => [`${name}.mp4`, `${name}.mp4`]),
  );
  expect(files()).toEqual([]);
});

// It has no room for anything.
const full = '/proc';
(process.platform === 'linux' ? test : test.skip)('nothing is encoded on a disk without room for it', async () => {
  const { place, sound_index } = workplaceOf(sound(1));
  const making = makeStillPictures({ ...ad, sound_index }, { ...place, folder: full });
  await expect(making).rejects.toThrow('not enough free disk');
});
