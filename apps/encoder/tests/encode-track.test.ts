import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cellIndexSchema, durationTicks } from '@longwave/hls-media';
import { ffmpeg } from '@longwave/test-kit';
import { encodeAudio } from '../src/media/encode-audio.ts';
import { encodeTrack, type EncodedTrack } from '../src/media/encode-track.ts';
import { measureSource } from '../src/media/measure-source.ts';
import { makeSource, measureLoudness, speech, temporaryFolder } from './_media.ts';

let folder: string;
let remove: () => void;
let outputs = 0;

beforeAll(() => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  remove = () => temporary[Symbol.dispose]();
});
afterAll(() => remove());

const signal = new AbortController().signal;
const silent = () => undefined;

interface Plain {
  readonly gainDb?: number;
  readonly ceilingDb?: number;
  readonly markersMs?: readonly number[];
}

/** The track of a source by a plan, without silences. */
async function trackOf(
  inputPath: string,
  { gainDb = 0, markersMs = [], ...ceiling }: Plain = {},
): Promise<EncodedTrack & { readonly samples: number }> {
  const { url, samples } = await measureSource(inputPath, silent, signal);
  const outputPath = path.join(folder, `out${outputs++}.mp4`);
  const plan = { gainDb, ...ceiling };
  const made = await encodeTrack({ source: { url, samples }, plan, markersMs, silences: [], outputPath, signal });
  return { ...made, samples };
}

const floats = (pcm: Buffer) => new Float32Array(Uint8Array.from(pcm).buffer);
/** Samples of the left channel at 48 kHz. */
const leftOf = (file: string) =>
  floats(ffmpeg('-i', file, '-map', '0:a:0', '-af', 'aresample=48000,pan=mono|c0=c0', '-f', 'f32le', 'pipe:1'));

const indexOf = ({ index }: EncodedTrack) => cellIndexSchema.parse(JSON.parse(readFileSync(index.path, 'utf8')));

test.each([
  ['44100 mono.flac', speech(5), ['-ac', '1']],
  ['44100 stereo.mp3', speech(3), ['-b:a', '96k', '-ac', '2']],
  ['whole frames.wav', speech(3), ['-af', 'aresample=48000,atrim=end_sample=102400']],
  ['a sample more.wav', speech(3), ['-af', 'aresample=48000,atrim=end_sample=102401']],
  ['one sample.wav', speech(1), ['-af', 'aresample=48000,atrim=end_sample=1']],
] as const)('%s: a track holds every sample of its source, filled up to a whole frame', async (name, sound, args) => {
  const track = await trackOf(makeSource(folder, name, sound, ...args));
  expect(track.frames).toBe(Math.ceil(track.samples / 1024));
  expect(leftOf(track.path).length).toBe(track.frames * 1024);
  expect(track.durationMs).toBe(Math.round((track.frames * 1024) / 48));
  expect(durationTicks(indexOf(track))).toBe(track.frames * 1024);
});

test('what is answered describes both files', async () => {
  const track = await trackOf(makeSource(folder, 'described.flac', speech(3)));
  for (const { path: file, sha256, sizeBytes } of [track, track.index])
    expect([sha256, sizeBytes]).toEqual([
      createHash('sha256').update(readFileSync(file)).digest('hex'),
      statSync(file).size,
    ]);
  expect(track.codec).toBe('mp4a.40.2');
  expect(indexOf(track).bytes).toBe(track.sizeBytes);
});

test.each([
  ['without a limiter', {}],
  ['with one', { gainDb: 9, ceilingDb: -6 }],
])('sample n of the source is sample n of the track up to the last one, %s', async (_name, plan) => {
  // A tone that rises to the very end: no two places are alike.
  const sweep = "aevalsrc='0.3*sin(2*PI*(200+90*t)*t)|0.2*sin(2*PI*440*t)':s=48000:d=3.0003";
  const file = makeSource(folder, `sweep ${Object.keys(plan).length}.wav`, sweep, '-c:a', 'pcm_f32le');
  const source = leftOf(file);
  const track = leftOf((await trackOf(file, plan)).path);
  for (const from of [1024, source.length - 2000]) {
    let best = { lag: Number.NaN, likeness: -1 };
    for (let lag = -1100; lag <= 1100; lag++) {
      let [product, power] = [0, 0];
      for (let n = from; n < from + 2000; n++) {
        product += source[n]! * (track[n + lag] ?? 0);
        power += (track[n + lag] ?? 0) ** 2;
      }
      const likeness = product / Math.sqrt(power);
      if (likeness > best.likeness) best = { lag, likeness };
    }
    expect(best.lag).toBe(0);
  }
  // Not cut, not faded.
  const end = (samples: Float32Array) => Math.hypot(...samples.subarray(source.length - 200, source.length));
  expect(end(track) / end(source)).toBeGreaterThan('gainDb' in plan ? 1.5 : 0.9);
});

test('cells begin at the marker that is given', async () => {
  const file = makeSource(folder, 'marked.flac', speech(12));
  const starts = async (markersMs: readonly number[]) =>
    indexOf(await trackOf(file, { markersMs })).cells.map(([, , start]) => start);
  const nearest = (all: readonly number[]) => Math.min(...all.map((start) => Math.abs(start / 48 - 7_777)));
  expect(nearest(await starts([]))).toBeGreaterThan(100);
  // Half a frame of the MP3, whose cut it is, and half a frame of its own.
  expect(nearest(await starts([7_777]))).toBeLessThanOrEqual(12 + 11);
});

test.each([
  ['speech', speech(5), -16],
  ['quiet speech that needs the limiter', `${speech(5)},volume=-20dB`, -12],
  ['stereo music', "aevalsrc='0.4*sin(2*PI*220*t)*exp(-3*mod(t,0.5))|0.4*sin(2*PI*331*t)':s=48000:d=5", -14],
])('%s: MP3 and track of one plan differ by less than 0.15 LU', async (name, sound, targetLufs) => {
  const inputPath = makeSource(folder, `${name}.flac`, sound);
  const mp3 = await encodeAudio({ inputPath, outputPath: path.join(folder, `${name}.mp3`), targetLufs });
  const track = await trackOf(inputPath, mp3.plan);
  const [ofMp3, ofTrack] = measureLoudness([mp3.path, track.path]);
  expect(ofMp3).toEqual(mp3.loudness);
  // The meter prints tenths.
  expect(Math.abs(ofTrack!.lufs - ofMp3!.lufs)).toBeLessThan(0.15);
  expect(ofTrack!.truePeakDbtp).toBeLessThanOrEqual(-1);
});

test('the same input gives the same bytes', async () => {
  const file = makeSource(folder, 'again.flac', speech(3));
  const [first, second] = [await trackOf(file, { gainDb: 3 }), await trackOf(file, { gainDb: 3 })];
  expect([second.sha256, second.index.sha256]).toEqual([first.sha256, first.index.sha256]);
});

test('an aborted encode ends at once and leaves no file', async () => {
  const file = makeSource(folder, 'long.wav', 'sine=f=300:r=48000:d=900');
  const controller = new AbortController();
  const encoding = encodeTrack({
    source: { url: `file:${file}`, samples: 900 * 48_000 },
    plan: { gainDb: 0 },
    ...{ markersMs: [], silences: [], outputPath: path.join(folder, 'aborted.mp4') },
    onFraction: () => controller.abort(new Error('stop')),
    signal: controller.signal,
  });
  await expect(encoding).rejects.toThrow('stop');
  expect(readdirSync(folder).filter((name) => name.startsWith('aborted'))).toEqual([]);
});

test('a source of other length than was measured is a failure of ours, and leaves no file', async () => {
  const file = makeSource(folder, 'shorter.wav', 'sine=f=300:r=48000:d=3');
  const outputPath = path.join(folder, 'shorter.mp4');
  const source = { url: `file:${file}`, samples: 5 * 48_000 };
  await expect(
    encodeTrack({ source, plan: { gainDb: 0 }, markersMs: [], silences: [], outputPath, signal }),
  ).rejects.toThrow(/made \d+ frames of 235/);
  expect(readdirSync(folder).filter((name) => name.startsWith('shorter.mp4'))).toEqual([]);
});
