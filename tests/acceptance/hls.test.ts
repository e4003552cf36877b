import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bareEnvironment, ffmpeg, findBrowser, until } from '@longwave/test-kit';
import {
  checkFeed,
  download,
  listenerAgentOf,
  playByHls,
  publishPlan,
  uploadFile,
  type HeardByHls,
} from '@longwave/test-kit/clients';
import { playedToEnd, watchPlayerPage } from '@longwave/test-kit/player-page';
import { chromium } from 'playwright-core';
import { advertisingOf, type Booked } from '../_advertising.ts';
import {
  countedDownloads,
  createPodcaster,
  publishFirstEpisode,
  secondsOf,
  type Installation,
  type Podcaster,
} from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

const introSeconds = 3;
const contentSeconds = 66;
/** The editor's time of the break, and the silence beside it where it is cut. */
const markerMs = 30_400;
const silence = { from: 31, to: 32 };
/** Of sound in HLS, in seconds. */
const frame = 1024 / 48_000;
const [listener, checker] = [listenerAgentOf(0), listenerAgentOf(1)];
const script = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');

let world: Installation;
let podcaster: Podcaster;
let enclosureUrl: string;
let entryUrl: string;
/** Of an episode that was published before the podcast had HLS. */
let oldEntryUrl: string;
let booked: Readonly<Record<'sponsor' | 'house', Booked>>;
let heard: HeardByHls;

const entryOf = (enclosure: string) => enclosure.replace(/\.mp3$/, '.m3u8');

function sound(name: string, seconds: number, source: string): string {
  const file = path.join(world.folder, name);
  ffmpeg('-f', 'lavfi', '-i', `${source}:sample_rate=48000:duration=${seconds}`, '-ac', '2', file);
  return file;
}

function makeEpisode(): string {
  const file = path.join(world.folder, 'episode.wav');
  const quiet = `volume=enable='between(t,${silence.from},${silence.to})':volume=0`;
  const source = `anoisesrc=color=pink:sample_rate=48000:duration=${contentSeconds}:seed=5,${quiet}`;
  ffmpeg('-f', 'lavfi', '-i', source, '-ac', '2', file);
  return file;
}

async function publishEpisode(): Promise<void> {
  const { rest, podcastId } = podcaster;
  const { fileUrl } = await uploadFile(rest, sound('intro.wav', introSeconds, 'sine=frequency=330'));
  await rest.put(`/podcasts/${podcastId}/intro`, { file_url: fileUrl });
  await until('the intro', async () => {
    const { intro } = await rest.get<{ intro: { state: string } }>(`/podcasts/${podcastId}`);
    return intro.state === 'ready';
  });
  const { productionId, episodeId } = await podcaster.newProduction(makeEpisode());
  await rest.put(`/episodes/${episodeId}/chapters`, { chapters: [{ start_ms: 0, title: 'Ebb' }] });
  await rest.put(`/episodes/${episodeId}/markers`, {
    markers: [
      { key: 'middle', kind: 'mid', position_ms: markerMs, max_slots: 2 },
      { key: 'end', kind: 'post', position_ms: contentSeconds * 1000, max_slots: 1 },
    ],
  });
  await rest.post(`/productions/${productionId}/start?publish_episode=true`);
  await podcaster.state(productionId, 'encoded');
}

beforeAll(async () => {
  world = await openSharedInstallation();
  podcaster = await createPodcaster(world);
  const { workspaceId } = podcaster.account;
  const { send, book } = advertisingOf(world, podcaster);
  const oldEnclosureUrl = await publishFirstEpisode(world, podcaster);
  oldEntryUrl = entryOf(oldEnclosureUrl);
  const podcast = await world.operator.read(workspaceId, 'podcasts', podcaster.podcastId);
  await send('podcast.revise', podcast, { hls_audio: true });
  const [, sponsor, house] = await Promise.all([
    publishEpisode(),
    book({
      name: 'Harbour Radio',
      type: 'sponsorship',
      goal: { unit: 'share_pct', quantity: 100 },
      positions: ['pre', 'mid'],
      ad: sound('sponsor.wav', 5, 'sine=frequency=440'),
    }),
    book({
      name: 'Our own',
      type: 'house',
      goal: { unit: 'unlimited' },
      positions: ['mid', 'post'],
      ad: sound('house.wav', 3, 'sine=frequency=660'),
    }),
  ]);
  booked = { sponsor, house };
  await publishPlan(world.operator, workspaceId);
  enclosureUrl = await until('the feed', async () => {
    const found = await checkFeed(podcaster.feedUrl);
    return found?.enclosureUrl === oldEnclosureUrl ? undefined : found?.enclosureUrl;
  });
  entryUrl = entryOf(enclosureUrl);
  for (const url of [entryUrl, oldEntryUrl])
    await until(
      'the presentation',
      async () => (await fetch(url, { method: 'HEAD', redirect: 'manual' })).status === 302,
    );
}, 300_000);
afterAll(async () => world?.[Symbol.asyncDispose]());

/** Runs `longwave hls check` over an entry. */
function check(url: string, ...args: readonly string[]) {
  const command = [script, 'hls', 'check', url, '--profile', 'general', '--json', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env: bareEnvironment });
  const { failures, warnings, findings } = JSON.parse(stdout || '{}') as Record<string, unknown>;
  return { status, stderr, failures, warnings, findings };
}
const nothingFound = { status: 0, stderr: '', failures: 0, warnings: 0, findings: [] };

/** Downloads, and of each ad how often it was decided, delivered and billed. */
async function counts() {
  const { workspaceId } = podcaster.account;
  const ofAd = async ({ lineItemId }: Booked) => {
    const { decided, delivered, billable } = await world.operator.adCounts(workspaceId, lineItemId);
    return [decided, delivered, billable];
  };
  const [downloads, sponsor, house] = await Promise.all([
    countedDownloads(podcaster),
    ...[booked.sponsor, booked.house].map(ofAd),
  ]);
  return { downloads, sponsor, house };
}
const countsAre = (expected: Awaited<ReturnType<typeof counts>>) =>
  until('these counts', counts, { holds: (now) => isDeepStrictEqual(now, expected) });

test('new episodes and those from before have presentations without findings, and nothing is decided for programs that only look', async () => {
  for (const url of [entryUrl, oldEntryUrl]) expect(check(url)).toEqual(nothingFound);
  expect(await counts()).toEqual({ downloads: 0, sponsor: [0, 0, 0], house: [0, 0, 0] });
});

test('a listener hears the whole content and every ad by HLS: one download, each ad delivered and billed once', async () => {
  const content: Buffer[] = [];
  heard = await playByHls(entryUrl, listener, { onContent: (bytes) => void content.push(bytes) });
  const file = path.join(world.folder, 'heard.mp4');
  writeFileSync(file, Buffer.concat(content));
  expect(Math.abs(secondsOf(file) - introSeconds - contentSeconds)).toBeLessThan(2 * frame + 0.024);
  const [pre, middle, end] = heard.breaks;
  expect(heard.breaks.map(({ id, ads }) => [id, ads.map(Math.floor)])).toEqual([
    ['pre', [5]],
    ['middle', [5, 3]],
    ['end', [3]],
  ]);
  expect(pre!.atSeconds).toBe(0);
  expect(middle!.atSeconds).toBeGreaterThan(introSeconds + silence.from);
  expect(middle!.atSeconds).toBeLessThan(introSeconds + silence.to);
  expect(end!.atSeconds).toBeCloseTo(introSeconds + contentSeconds - 2.5, 0);
  await countsAre({ downloads: 1, sponsor: [2, 2, 2], house: [2, 2, 0] });
});

test('the same listener downloads the MP3: the same ads; with another listener, two downloads and no ad twice; a recount agrees', async () => {
  const mp3 = await download(enclosureUrl, listener);
  const answer = await fetch(mp3.mediaUrl.replace(/[^/]+$/, 'timeline.json'), { headers: { 'user-agent': listener } });
  const { parts } = (await answer.json()) as {
    readonly parts: readonly { readonly key?: string; readonly slots?: readonly { readonly duration_ms: number }[] }[];
  };
  const breaks = parts.flatMap(({ key, slots }) =>
    slots ? [[key, slots.map((slot) => slot.duration_ms / 1000)]] : [],
  );
  const near = (seconds: number) => expect.closeTo(seconds, 1);
  expect(breaks).toEqual(heard.breaks.map(({ id, ads }) => [id, ads.map(near)]));

  // The checker plays everything as a listener of its own.
  expect(check(entryUrl, '--all', '--user-agent', checker)).toEqual(nothingFound);
  await countsAre({ downloads: 2, sponsor: [4, 4, 4], house: [4, 4, 0] });

  const env = { ...process.env, DATABASE_URL: world.fleet.databaseUrls['audience'] };
  const recount = (...args: string[]) =>
    spawnSync(process.execPath, [script, 'recount', ...args], { encoding: 'utf8', env });
  const facts = path.join(world.folder, 'facts.jsonl.gz');
  // The bytes of the MP3 are among the facts that were counted.
  await until('the facts of the MP3', async () => {
    expect(recount('export', '--out', facts).status).toBe(0);
    const lines = gunzipSync(readFileSync(facts)).toString().split('\n');
    return lines.some((line) => line.includes('"byte_range_served"') && line.includes(podcaster.podcastId));
  });
  const compared = recount('compare', facts, '--window', 'all');
  expect([compared.status, compared.stdout]).toEqual([0, expect.stringContaining('downloads')]);
  await countsAre({ downloads: 2, sponsor: [4, 4, 4], house: [4, 4, 0] });
});

test('a browser plays the page of the player to its end: one more download, and each of its ads delivered and billed once', async () => {
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ userAgent: listenerAgentOf(2) });
    await watchPlayerPage(page);
    await page.goto(enclosureUrl.replace(/[^/]+$/, 'player'));
    await page.getByRole('button', { name: 'Play' }).click();
    const { ads, content } = await playedToEnd(page);
    expect(ads.map(([seconds]) => Math.round(seconds))).toEqual([5, 5, 3, 3]);
    const [[from, to], ...more] = content as [[number, number]];
    expect([from, to, more]).toEqual([0, expect.closeTo(introSeconds + contentSeconds, 0), []]);
  } finally {
    await browser.close();
  }
  await countsAre({ downloads: 3, sponsor: [6, 6, 6], house: [6, 6, 0] });
});
