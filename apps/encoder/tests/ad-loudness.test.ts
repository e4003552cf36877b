import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkCanonical } from '@longwave/audio';
import { until } from '@longwave/test-kit';
import { encodeLadder } from '../src/media/encode-audio.ts';
import { makeSource, measureLoudness, speech, temporaryFolder } from './_media.ts';

const targetsLufs = [-14, -16, -18, -20, -22, -24];
/** Episodes of any usual loudness, a tenth apart. */
const episodesLufs = Array.from({ length: 101 }, (_, i) => -24 + i / 10);

let folder: string;
let remove: () => void;

beforeAll(() => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  remove = () => temporary[Symbol.dispose]();
});
afterAll(() => remove());

async function prepare(name: string, sound: string, ...args: string[]) {
  const inputPath = makeSource(folder, name, sound, ...args);
  const streams = path.join(folder, `${name} streams`);
  mkdirSync(streams);
  const made = await encodeLadder({ inputPath, folder: streams, targetsLufs });
  const files = made.flatMap(({ path: file, track }) => [file, track.path, track.index.path]);
  expect(readdirSync(streams).sort()).toEqual(files.map((file) => path.basename(file)).sort());
  return made;
}

const music =
  "aevalsrc='0.3*sin(2*PI*220*t)*exp(-3*mod(t,0.5))+0.5*(random(0)-0.5)*exp(-40*mod(t,0.5))" +
  "|0.3*sin(2*PI*222*t)*exp(-3*mod(t,0.5))+0.5*(random(1)-0.5)*exp(-40*mod(t,0.5))':s=48000:d=5";
const loud = "aevalsrc='1.6*sin(2*PI*220*t)+0.8*(random(0)-0.5)|1.6*sin(2*PI*331*t)':s=48000:d=5";

test.each([
  ['speech.flac', speech(5), []],
  ['quiet mono.mp3', `${speech(5)},volume=-25dB`, ['-ac', '1']],
  ['music.wav', music, []],
  ['beyond full scale.wav', loud, ['-c:a', 'pcm_f32le']],
  ['two seconds.wav', speech(2), []],
] as const)('%s has a stream within 1 LU of every episode from -24 to -14 LUFS', async (name, sound, args) => {
  const made = await prepare(name, sound, ...args);
  const heard = measureLoudness(made.map(({ path: file }) => file));
  for (const episode of episodesLufs) {
    const distance = Math.min(...heard.map(({ lufs }) => Math.abs(lufs - episode)));
    expect(distance).toBeLessThanOrEqual(1 + 1e-9);
  }
  for (const [index, stream] of made.entries()) {
    expect(stream.loudness).toEqual(heard[index]);
    expect(stream.loudness.truePeakDbtp!).toBeLessThanOrEqual(-1);
    expect(stream.durationMs).toBe(made[0]!.durationMs);
    expect(checkCanonical(readFileSync(stream.path))).toMatchObject({ canonical: true, durationMs: stream.durationMs });
  }
  expect(heard).toEqual(heard.toSorted((a, b) => a.lufs - b.lufs));
  const tracks = measureLoudness(made.map(({ track }) => track.path));
  for (const [index, { lufs, truePeakDbtp }] of tracks.entries()) {
    // The meter prints tenths.
    expect(Math.abs(lufs - heard[index]!.lufs)).toBeLessThan(0.15);
    expect(truePeakDbtp).toBeLessThanOrEqual(-1);
  }
});

test('where peaks limit the gain the streams state their measured loudness, and none exceeds -1 dBTP', async () => {
  const clicks = "aevalsrc='if(lt(mod(t,1),0.0005),0.9,0.0001*sin(2*PI*400*t))':s=48000:d=3";
  const made = await prepare('clicks.wav', clicks);
  expect(made.some(({ loudness }) => !targetsLufs.some((target) => Math.abs(target - loudness.lufs!) < 1))).toBe(true);
  const heard = measureLoudness(made.map(({ path: file }) => file));
  expect(made.map(({ loudness }) => loudness)).toEqual(heard);
  const tracks = measureLoudness(made.map(({ track }) => track.path));
  for (const { truePeakDbtp } of [...heard, ...tracks]) expect(truePeakDbtp).toBeLessThanOrEqual(-1);
});

test('targets that give the same bytes give one stream: silence, and sound too short to have a loudness', async () => {
  const silent = await prepare('silent.wav', 'anullsrc=r=48000:cl=stereo,atrim=end=1');
  expect(silent.map(({ loudness }) => loudness)).toEqual([{ lufs: null, truePeakDbtp: null }]);
  expect(await prepare('short.wav', 'sine=f=500:r=48000:d=0.2')).toHaveLength(1);
});

test('an aborted preparation leaves no file', async () => {
  const inputPath = makeSource(folder, 'aborted.wav', 'sine=f=300:r=48000:d=60');
  const streams = path.join(folder, 'aborted streams');
  mkdirSync(streams);
  const controller = new AbortController();
  const preparing = encodeLadder({ inputPath, folder: streams, targetsLufs, signal: controller.signal });
  await until(() => readdirSync(streams).some((file) => file.endsWith('.mp3')));
  controller.abort(new Error('stop'));
  await expect(preparing).rejects.toThrow('stop');
  expect(readdirSync(streams)).toEqual([]);
});
