import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { aacFramesOfSamples, composeTrack, createTrackReader } from '../src/index.ts';
import { decode, encodeAac, makeSound, muxed, type Sound } from './_sound.ts';

const frameSamples = 1024;
const channels = 2;

let folder: string;
let intro: Sound;
let content: Sound;
let outro: Sound;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'longwave-hls-media-'));
  // Sweeps and speech-like bursts: none repeats itself within the lags that are searched.
  intro = makeSound('0.3*sin(2*PI*(220+150*t)*t)', '0.2*sin(2*PI*(330+15*t)*t)', 6);
  content = makeSound(
    '(0.3*sin(2*PI*180*t)+0.2*sin(2*PI*(700+90*t)*t)+0.004*(random(0)-0.5))*abs(sin(2*PI*2.3*t))',
    '(0.25*sin(2*PI*260*t)+0.1*sin(2*PI*(1500-20*t)*t))*abs(sin(2*PI*1.7*t))',
    24,
  );
  outro = makeSound('0.4*sin(2*PI*(100+200*t)*t)', '0.4*sin(2*PI*(900-60*t)*t)', 5);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Frames of a sound that are used, and where its cells begin. */
const cut = (mostFrames: number) =>
  fc.integer({ min: 2, max: mostFrames }).chain((frames) =>
    fc.record({
      frames: fc.constant(frames),
      starts: fc
        .uniqueArray(fc.integer({ min: 1, max: frames - 1 }), { maxLength: 12 })
        .map((inside) => [0, ...inside.toSorted((a, b) => a - b)]),
    }),
  );

const rmsOf = (samples: Float32Array) =>
  Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
const decibels = (ratio: number) => 20 * Math.log10(ratio);

/** The shift, in samples, at which a window in the middle of one channel differs least from the source. */
function delayOf(decoded: Float32Array, source: Float32Array): number {
  const most = 1200;
  const window = 2000;
  const from = Math.floor((decoded.length / channels - window) / 2);
  let best = { lag: NaN, error: Infinity };
  for (let lag = -most; lag <= most; lag++) {
    let error = 0;
    for (let n = from; n < from + window && error < best.error; n++)
      error += (decoded[(n + lag) * channels]! - source[n * channels]!) ** 2;
    if (error < best.error) best = { lag, error };
  }
  return best.lag;
}

test('an intro, a content and an outro of any cells and lengths join without a sample lost or late', async () => {
  let judged = 0;
  await fc.assert(
    fc.asyncProperty(cut(280), cut(1120), cut(230), async (...cuts) => {
      const sounds = [intro, content, outro];
      const parts = await Promise.all(sounds.map(({ adts }, i) => muxed(adts, cuts[i]!.starts, cuts[i]!.frames)));
      const files = new Map(parts.map(({ bytes }) => [hash('sha256', bytes), bytes]));
      const [first, ...others] = parts.map(({ bytes, index }) => ({ digest: hash('sha256', bytes), index }));
      const track = composeTrack('mp4a.40.2', [first!, ...others]);
      const reader = createTrackReader(
        track,
        parts.map(({ index }) => index),
      );
      const file = path.join(folder, 'joined.mp4');
      const slices = reader.slices(0, reader.index.bytes);
      writeFileSync(
        file,
        Buffer.concat(slices.map((s) => ('bytes' in s ? s.bytes : files.get(s.blob)!.subarray(s.from, s.to)))),
      );

      const decoded = decode(file);
      const frames = cuts.reduce((sum, { frames: count }) => sum + count, 0);
      expect(decoded.length).toBe(frames * frameSamples * channels);

      let at = 0;
      for (const [i, { samples }] of sounds.entries()) {
        const length = cuts[i]!.frames * frameSamples * channels;
        const part = decoded.subarray(at, at + length);
        at += length;
        if (cuts[i]!.frames > 8) {
          judged++;
          expect(delayOf(part, samples.subarray(0, length))).toBe(0);
        }
        // The first frame of a part overlaps what came before it.
        for (let from = frameSamples * channels; from < length; from += frameSamples * channels) {
          const difference = part
            .slice(from, from + frameSamples * channels)
            .map((value, n) => value - samples[from + n]!);
          expect(decibels(rmsOf(difference))).toBeLessThan(-45);
        }
      }
    }),
    { numRuns: 8 },
  );
  expect(judged).toBeGreaterThan(8);
});

test.each([1, 1023, 1024, 1025, 50_000])(
  'a source of %d samples is whole in its track, up to the last sample',
  async (count) => {
    // The sound ends softly: no coder keeps a click exactly.
    const source = content.samples
      .slice(60_000, 60_000 + count * channels)
      .map((value, n) => value * Math.min(1, (count - n / channels) / 300));
    const frames = aacFramesOfSamples(count);
    const { bytes } = await muxed(encodeAac(Buffer.from(source.buffer)), [0], frames);
    const file = path.join(folder, `${count}.mp4`);
    writeFileSync(file, bytes);
    const decoded = decode(file);
    expect(decoded.length).toBe(frames * frameSamples * channels);
    // The last frame is filled up with silence.
    for (let from = frameSamples * channels; from < decoded.length; from += frameSamples * channels) {
      const difference = decoded
        .slice(from, from + frameSamples * channels)
        .map((value, n) => value - (source[from + n] ?? 0));
      expect(decibels(rmsOf(difference))).toBeLessThan(-45);
    }
  },
);

test('the decoder reads the file without a warning, from time 0, and as long as its frames', async () => {
  const { bytes, index } = await muxed(content.adts, [0, 100, 250, 300], 480);
  const file = path.join(folder, 'probed.mp4');
  writeFileSync(file, bytes);
  const entries = 'stream=codec_name,profile,sample_rate,channels,start_pts,duration_ts,nb_read_packets';
  const { stdout, stderr } = spawnSync(
    'ffprobe',
    ['-v', 'warning', '-count_packets', '-show_entries', entries, '-of', 'json', file],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect((JSON.parse(stdout) as { streams: unknown }).streams).toEqual([
    {
      codec_name: 'aac',
      profile: 'LC',
      sample_rate: '48000',
      channels: 2,
      start_pts: 0,
      duration_ts: 480 * frameSamples,
      nb_read_packets: '480',
    },
  ]);
  expect(index.bytes).toBe(bytes.length);
});
