import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DeliveryApp } from '../src/app.ts';
import { askAt } from './_ask.ts';
import { decideAds, publishHlsShow, storeTone, type TestAd, type TestTrack } from './_hls.ts';
import { storePictures } from './_pictures.ts';
import { openPlayerBrowser, playPictureWithShaka, playWithHlsJs, type PlayerBrowser } from './_players.ts';
import { storeSegment } from './_stitched.ts';
import { audio, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let browser: PlayerBrowser;
const ask = askAt(() => app.port);
let content: TestTrack;
let ad: TestAd;
let entry: string;
/** So many seconds are whole frames and whole pictures, so cells of both begin there. */
const breakSeconds = 8;

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  browser = await openPlayerBrowser(app.port);
  content = await storeTone(bench, 12, 440, [breakSeconds * 1000]);
  const pictures = await storePictures(bench, 12, [breakSeconds * 1000]);
  ad = { mp3: audio(125), tone: await storeTone(bench, 3, 660), pictures: await storePictures(bench, 3) };
  await storeSegment(bench, ad.mp3);
  bench.serving.answer = async (request) => decideAds(request, [ad]);
  const markers = [
    { key: 'm1', kind: 'mid' as const, position_ms: breakSeconds * 1000, max_slots: 1 },
    { key: 'end', kind: 'post' as const, position_ms: 12_000, max_slots: 1 },
  ];
  ({ entry } = await publishHlsShow(bench, ask, content, markers, pictures));
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

const url = () => `http://media.test${entry}`;
const secondsOf = ({ frames }: TestTrack) => (frames * 1024) / 48_000;

test('hls.js plays an episode with pictures and every break, from the smallest size to the largest, and goes on at the break', async () => {
  const played = await playWithHlsJs(await browser.openPage(), url(), 'picture', 4);
  expect(played).toMatchObject({ ads: ['pre 0', 'm1 0', 'end 0'], failed: [], fatal: [] });
  expect([played.heights[0], played.heights.at(-1)]).toEqual([360, 1080]);
  expect(Math.abs(played.totalSeconds - secondsOf(content) - 3 * secondsOf(ad.tone))).toBeLessThan(0.05);
  const [before, behind, ...more] = played.content;
  expect([before![0], more]).toEqual([0, []]);
  expect(before![1]).toBeGreaterThanOrEqual(breakSeconds);
  expect(Math.abs(behind![0] - breakSeconds)).toBeLessThan(0.02);
  expect(Math.abs(behind![1] - secondsOf(content))).toBeLessThan(0.05);
});

test('Shaka plays an episode with pictures and every break, in two sizes, and goes on where it stopped', async () => {
  const played = await playPictureWithShaka(await browser.openPage(), url(), 3);
  expect(played.ads).toEqual([1, 2, 3].map(() => expect.closeTo(secondsOf(ad.tone), 1)));
  expect(played.heights).toEqual([360, 1080]);
  const [, behind] = played.stoppedAt;
  expect(behind).toBeGreaterThanOrEqual(breakSeconds);
  for (const [place, at] of played.resumedAt.entries())
    expect(Math.abs(at - played.stoppedAt[place]!)).toBeLessThan(0.02);
});
