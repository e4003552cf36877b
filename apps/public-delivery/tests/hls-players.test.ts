import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import type { Route } from 'playwright-core';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt } from './_ask.ts';
import { decideAds, publishHlsShow, storeTone, storeTwoAds, type TestAd, type TestTrack } from './_hls.ts';
import { openPlayerBrowser, playBreakWithShaka, playWithHlsJs, type PlayerBrowser } from './_players.ts';
import { eventOf, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let browser: PlayerBrowser;
const ask = askAt(() => app.port);
let content: TestTrack;
let ads: TestAd[];
let entry: string;
/** So many seconds are whole frames, so a cell begins there. */
const breakSeconds = 8;

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  browser = await openPlayerBrowser(app.port);
  content = await storeTone(bench, 20, 440, [breakSeconds * 1000]);
  ads = await storeTwoAds(bench);
  bench.serving.answer = async (request) => decideAds(request, ads);
  ({ entry } = await publishHlsShow(bench, ask, content, [
    { key: 'm1', kind: 'mid', position_ms: breakSeconds * 1000, max_slots: 2 },
    { key: 'end', kind: 'post', position_ms: 20_000, max_slots: 1 },
  ]));
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

/** The address of the entry in the browser. */
const url = () => `http://media.test${entry}`;
const secondsOf = ({ frames }: TestTrack) => (frames * 1024) / 48_000;
const near = (seconds: number) => expect.closeTo(seconds, 1);

test('hls.js plays every break of an episode and the whole content, which goes on at the cell of the break', async () => {
  const [long, short] = ads.map(({ tone }) => secondsOf(tone)) as [number, number];
  const played = await playWithHlsJs(await browser.openPage(), url());
  expect(played).toMatchObject({ ads: ['pre 0', 'm1 0', 'm1 1', 'end 0'], failed: [], fatal: [] });
  expect(Math.abs(played.totalSeconds - secondsOf(content) - 3 * long - short)).toBeLessThan(0.05);
  const [before, behind, ...more] = played.content;
  expect([before![0], more]).toEqual([0, []]);
  expect(before![1]).toBeGreaterThanOrEqual(breakSeconds);
  expect(Math.abs(behind![0] - breakSeconds)).toBeLessThan(0.02);
  expect(Math.abs(behind![1] - secondsOf(content))).toBeLessThan(0.02);
});

test('hls.js leaves out an ad that is gone or missing, plays the next one, and goes on where a break has none', async () => {
  bench.serving.answer = async (request) => decideAds(request, ads, { without: 'end' });
  const page = await browser.openPage();
  const halt = eventOf('serving_halts', newId('hlt'), 1, 'active', {
    scope: { kind: 'creative', creative_id: 'crv_pre_0' },
    cause: 'x',
  });
  const statuses: number[] = [];
  const main = /\/delivery\/v1\/ad\/[^/]+\/main\.m3u8/;
  page.on('response', (answer) => main.test(answer.url()) && statuses.push(answer.status()));
  const answers = [
    // The list had the ad, which is halted before the player comes for it.
    async (route: Route) => {
      await apply(bench, halt);
      const { pathname } = new URL(route.request().url());
      await until('the halt', async () => (await ask(pathname)).status === 410);
      await route.continue();
    },
    (route: Route) => route.fulfill({ status: 404, headers: { 'access-control-allow-origin': '*' } }),
  ];
  await page.route(main, (route) => (answers.shift() ?? ((other: Route) => other.continue()))(route));
  const played = await playWithHlsJs(page, url());
  expect(statuses).toEqual([410, 404, 200]);
  expect(played).toMatchObject({ ads: ['m1 1'], fatal: [] });
  expect(played.content.at(-1)![1]).toEqual(near(secondsOf(content)));
  await apply(bench, next(halt, {}, { state: 'released' }));
});

test('Shaka plays both ads of a break inside the content, in an audio element', async () => {
  bench.serving.answer = async (request) => decideAds(request, ads, { without: 'pre' });
  const played = await playBreakWithShaka(await browser.openPage(), url(), breakSeconds - 1);
  expect(played.ads).toEqual(ads.map(({ tone }, place) => [near(secondsOf(tone)), place + 1, 2]));
  expect(played.completed).toBe(2);
  expect(played.resumedAt).toEqual(expect.closeTo(breakSeconds, 0));
});
