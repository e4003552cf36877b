import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { makeAudio } from '@longwave/test-kit';
import { playedToEnd, watchPlayerPage } from '@longwave/test-kit/player-page';
import type { Page } from 'playwright-core';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { decideAds, publishHlsShow, storeTone, storeTwoAds, type TestAd, type TestTrack } from './_hls.ts';
import { storePictures } from './_pictures.ts';
import { openPlayerBrowser, type PlayerBrowser } from './_players.ts';
import { openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let browser: PlayerBrowser;
const ask = askAt(() => app.port);
let content: TestTrack;
let ads: TestAd[];
let show: Awaited<ReturnType<typeof publishHlsShow>>;
/** So many seconds are whole frames, so a cell begins there. */
const breakSeconds = 8;

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  browser = await openPlayerBrowser(app.port);
  content = await storeTone(bench, 20, 440, [breakSeconds * 1000]);
  ads = await storeTwoAds(bench);
  show = await publishHlsShow(bench, ask, content, [
    { key: 'm1', kind: 'mid', position_ms: breakSeconds * 1000, max_slots: 2 },
    { key: 'end', kind: 'post', position_ms: 20_000, max_slots: 1 },
  ]);
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => void (bench.serving.answer = async (request) => decideAds(request, ads)));

const playerPath = ({ enclosure } = show) => enclosure.replace(/[^/]+$/, 'player');
const secondsOf = ({ frames }: TestTrack) => (frames * 1024) / 48_000;
const near = (seconds: number) => expect.closeTo(seconds, 1);

/** The page of the player, with what went wrong in it. */
async function open(of = show): Promise<{ page: Page; errors: string[]; press: (key: string) => Promise<void> }> {
  const page = await browser.openEmptyPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.text().includes('Security Policy') && errors.push(message.text()));
  await watchPlayerPage(page);
  await page.goto(`http://media.test${playerPath(of)}`);
  const press = async (key: string) => page.keyboard.press(key);
  return { page, errors, press };
}
const play = (page: Page) => page.getByRole('button', { name: 'Play' }).click();

test('the page has at most 12 kB with its script, may do nothing else, and decides nothing before it is asked to play', async () => {
  const before = bench.serving.requests.length;
  const titles = Array.from({ length: 200 }, (_, index) => ({ start_ms: index, title: 'Ebb & flow'.repeat(10) }));
  await apply(bench, next(show.events.episode, { chapters: titles }));
  const { headers, body } = await ask(playerPath());
  expect(body.length).toBeLessThanOrEqual(12_000);
  const html = body.toString();
  const [style, script] = ['style', 'script'].map((name) => {
    const inside = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(html)![1]!;
    return createHash('sha256').update(inside).digest('base64');
  });
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-${style}'; script-src 'sha256-${script}'; connect-src 'self'; img-src 'self' data:; media-src 'self' blob:; frame-ancestors *`,
  );
  expect(html).toContain(`src="http://media.test${show.enclosure}" data-hls="http://media.test${show.entry}"`);
  const asked: string[] = [];
  const { page } = await open();
  page.on('request', (request) => asked.push(request.url()));
  await page.getByRole('button', { name: 'Play' }).focus();
  expect([asked, bench.serving.requests.length]).toEqual([[], before]);
});

test('Chromium plays the ads of every list where their break is, and the whole content, which goes on at the cell of the break', async () => {
  const { page, errors } = await open();
  const listed: string[] = [];
  const taken: string[] = [];
  page.on('response', async (answer) => {
    if (answer.url().includes('/al/'))
      listed.push(...((await answer.json()) as { ASSETS: { URI: string }[] }).ASSETS.map(({ URI }) => URI));
    if (/\/ad\/[^/]+\/main\.m3u8/.test(answer.url())) taken.push(answer.url());
  });
  await play(page);
  const played = await playedToEnd(page);
  const [long, short] = ads.map(({ tone }) => near(secondsOf(tone)));
  expect(played.ads.map(([seconds]) => seconds)).toEqual([long, long, short, long]);
  const [pre, first, second, post] = played.ads.map(([, where]) => where);
  expect([pre, first, post]).toEqual([0, second, near(secondsOf(content))]);
  // A browser stops 50 ms before the last sample, sixteen times as much at this speed, and goes on there.
  expect(breakSeconds - first!).toBeGreaterThanOrEqual(0);
  expect(breakSeconds - first!).toBeLessThan(1);
  expect(played.content).toEqual([[0, near(secondsOf(content))]]);
  expect(played.said).toEqual([
    ...['Loading…', 'Advertisement 1 of 1', ''],
    ...['Loading…', 'Advertisement 1 of 2', 'Advertisement 2 of 2', ''],
    ...['Loading…', 'Advertisement 1 of 1', ''],
  ]);
  expect(taken).toEqual(listed);
  expect(errors).toEqual([]);
});

test('an episode that has HLS for its pictures alone plays its sound by HLS, with its ads, and no picture is loaded', async () => {
  // One file of pictures is enough for the episode and for its ad.
  const [sound, pictures] = await Promise.all([storeTone(bench, 3, 440), storePictures(bench, 3)]);
  const spoken = { ...ads[1]!, pictures };
  const video = await publishHlsShow(bench, ask, sound, [], pictures);
  await apply(bench, next(video.events.podcast, { hls_audio: false, hls_video: true }));
  const { location } = (await ask(video.entry, newListener())).headers;
  expect((await ask(location!)).body.toString()).toContain('RESOLUTION=1920x1080');
  bench.serving.answer = async (request) => decideAds(request, [spoken]);
  const { page, errors } = await open(video);
  const files: string[] = [];
  page.on('request', (request) => files.push(new URL(request.url()).pathname));
  await play(page);
  const played = await playedToEnd(page);
  expect(played.ads).toEqual([[near(secondsOf(spoken.tone)), 0]]);
  expect(played.content).toEqual([[0, near(secondsOf(sound))]]);
  expect(await page.evaluate(`document.querySelector('audio').currentSrc`)).toMatch(/^blob:/);
  expect(files.filter((file) => file.endsWith('/media.m3u8')).map((file) => file.split('/').at(-2))).toEqual([
    'a192',
    'a192',
  ]);
  expect(errors).toEqual([]);
});

test('by keyboard: who jumps over a break hears its ads first, and nobody jumps while an ad plays', async () => {
  const { page, press } = await open();
  const slider = page.getByRole('slider', { name: 'Position' });
  await page.route('**/al/**', async (route) => {
    // The list of the break before the content is empty, so it begins at once.
    if (route.request().url().includes('=pre')) return route.fulfill({ json: { ASSETS: [] } });
    return route.continue();
  });
  await page.getByRole('button', { name: 'Play' }).focus();
  await press('Enter');
  await slider.focus();
  await press('ArrowRight');
  await page.getByText('Advertisement 1 of 2').waitFor();
  expect(await slider.isVisible()).toBe(false);
  const played = await playedToEnd(page);
  expect(played.ads.map(([seconds, where]) => [Math.round(seconds), where >= 10])).toEqual([
    [5, true],
    [3, true],
    [5, true],
  ]);
});

test('a list that fails and an ad that is gone are left out, and the content goes on', async () => {
  const { page } = await open();
  await page.route('**/al/**', (route) =>
    route.request().url().includes('=m1') ? route.continue() : route.fulfill({ status: 404 }),
  );
  const answers = [410];
  await page.route(/\/ad\/[^/]+\/main\.m3u8/, (route) => {
    const status = answers.shift();
    return status === undefined ? route.continue() : route.fulfill({ status });
  });
  await play(page);
  const played = await playedToEnd(page);
  expect(played.ads.map(([seconds]) => seconds)).toEqual([near(3)]);
  expect(played.content.at(-1)![1]).toEqual(near(secondsOf(content)));
});

test('where HLS is missing or breaks off the MP3 goes on, and where that is missing too the page says so', async () => {
  bench.serving.answer = async (request) => decideAds(request, ads, { without: 'pre' });
  const mp3 = readFileSync(makeAudio(path.join(bench.folder, 'fallback.mp3'), 25));
  const sourceOf = (page: Page) => page.evaluate<string>(`document.querySelector('audio').currentSrc`);
  const fill = (page: Page) =>
    page.route('**/*.mp3', (route) => route.fulfill({ body: mp3, contentType: 'audio/mpeg' }));
  const missing = await open();
  await missing.page.route('**/*.m3u8', (route) => route.fulfill({ status: 404 }));
  await fill(missing.page);
  await play(missing.page);
  await playedToEnd(missing.page);
  expect(await sourceOf(missing.page)).toBe(`http://media.test${show.enclosure}`);

  const broken = await open();
  await fill(broken.page);
  await broken.page.route('**/hp/**/m.mp4', (route) =>
    route.request().headers()['range'] === 'bytes=0-604' ? route.continue() : route.fulfill({ status: 410 }),
  );
  await play(broken.page);
  await playedToEnd(broken.page);
  expect(await sourceOf(broken.page)).toBe(`http://media.test${show.enclosure}`);

  const nothing = await open();
  for (const files of ['**/*.m3u8', '**/*.mp3'])
    await nothing.page.route(files, (route) => route.fulfill({ status: 404 }));
  await play(nothing.page);
  await nothing.page.getByText('This episode cannot be played now.').waitFor();
});
