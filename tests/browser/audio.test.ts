import { copyFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ffmpeg, until } from '@longwave/test-kit';
import { checkFeed, download, publishPlan, uploadFile } from '@longwave/test-kit/clients';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { advertisingOf } from '../_advertising.ts';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { hasFocus, heading, lookAt, newPodcaster, tabTo, type Podcaster } from '../_console.ts';
import type { ProductionView } from '../_fleet.ts';
import { publishedPodcast } from '../_hosting-world.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const stack = new AsyncDisposableStack();
let world: SharedInstallation;
let browser: TestBrowser;
let ada: Podcaster;
beforeAll(async () => {
  world = stack.use(await openSharedInstallation());
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
  episode = await publishEpisode('The lamp');
}, 120_000);
afterEach(() => expect(browser.takeFindings()).toEqual([]));
afterAll(() => stack.disposeAsync());

let episode: Awaited<ReturnType<typeof publishEpisode>>;
/** Of the ad in the middle, which one test books and the next ones hear. */
let lineItemId = '';
const adSeconds = 6;
const silence = { fromMs: 25_000, toMs: 26_000 };

/** Forty seconds of noise with one second of silence, of a published episode; the address of its feed comes with it. */
async function publishEpisode(title: string): Promise<{ readonly episodeId: string; readonly feedUrl: string }> {
  const file = path.join(world.folder, 'episode.wav');
  const quiet = `volume=enable='between(t,${silence.fromMs / 1000},${silence.toMs / 1000})':volume=0`;
  ffmpeg('-f', 'lavfi', '-i', `anoisesrc=color=pink:sample_rate=48000:duration=40:seed=3,${quiet}`, '-ac', '2', file);
  const podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  const { id: episodeId } = await ada.rest.post<{ id: string }>(`/podcasts/${podcastId}/episodes`, { title });
  const { id } = await ada.rest.post<{ id: string }>('/productions', {
    episode_id: episodeId,
    file_url: (await uploadFile(ada.rest, file)).fileUrl,
    state: 'encoding',
    publication_flag: true,
  });
  await until('the encoding', async () => {
    const { state, problem } = await ada.rest.get<ProductionView>(`/productions/${id}`);
    if (state === 'error') throw new Error(problem?.detail);
    return state === 'encoded';
  });
  const { feed_url: feedUrl } = await ada.rest.get<{ feed_url: string }>(`/podcasts/${podcastId}`);
  return { episodeId, feedUrl };
}

interface Timeline {
  readonly parts: readonly {
    readonly kind: string;
    readonly content_start_ms?: number;
    readonly slots?: readonly { readonly duration_ms: number }[];
  }[];
}

/** Documents beside the file that a new listener gets now. */
async function besideOf(feedUrl: string, agent: string): Promise<(name: string) => Promise<unknown>> {
  const { enclosureUrl } = (await checkFeed(feedUrl))!;
  const { mediaUrl } = await download(enclosureUrl, agent);
  const headers = { 'user-agent': agent };
  return async (name) => (await fetch(mediaUrl.replace(/[^/]+$/, name), { headers })).json();
}

const secondsAt = async (page: Page, name: string) =>
  Number(await page.getByRole('slider', { name }).getAttribute('aria-valuenow')) / 1000;

test('9, a mid-roll by keyboard: placed, snapped to the silence, its join heard, saved; the delivered file has the ad there', async () => {
  const { episodeId, feedUrl } = episode;
  const ad = path.join(world.folder, 'ad.wav');
  ffmpeg('-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${adSeconds}`, '-ac', '2', ad);
  const { workspace_id: workspaceId } = await world.operator.account(ada.accountId);
  const booked = await advertisingOf(world, { account: { workspaceId }, rest: ada.rest }).book({
    ...{ name: 'Harbour Radio', type: 'sponsorship', goal: { unit: 'share_pct', quantity: 100 } },
    ...{ positions: ['mid'], ad },
  });
  ({ lineItemId } = booked);
  await publishPlan(world.operator, workspaceId);

  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/episodes/${episodeId}`);
  await heading(page, 'The lamp').waitFor();
  await page.getByText('No break is set.').first().waitFor();
  await tabTo(page, page.getByRole('slider', { name: 'Position' }));
  await page.keyboard.press('b');
  const mid = page.getByRole('slider', { name: 'Mid 1' });
  await until('the focus on the break', () => hasFocus(page, mid));
  expect(await mid.getAttribute('aria-valuetext')).toBe('0:20.0');
  await page.keyboard.press('s');
  await until('the silence', async () => (await mid.getAttribute('aria-valuetext')) === '0:25.5');
  await lookAt(page, 'audio-and-breaks');

  await tabTo(page, page.getByRole('button', { name: 'Speed' }));
  for (const key of ['Enter', 'End', 'Enter']) await page.keyboard.press(key);
  await tabTo(page, page.getByRole('button', { name: 'Hear the join' }));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  expect(await secondsAt(page, 'Position')).toBeLessThan(25.5);
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  expect(Math.abs((await secondsAt(page, 'Position')) - 28.5)).toBeLessThan(0.5);

  await tabTo(page, page.getByRole('button', { name: 'Save the breaks' }));
  await page.keyboard.press('Enter');
  await page.getByText('Everything is saved').first().waitFor();
  const { parts } = await until('the break in new plays', async () => {
    const beside = await besideOf(feedUrl, `Listener/${Date.now()}`);
    const timeline = (await beside('timeline.json')) as Timeline;
    return timeline.parts.some(({ slots = [] }) => slots.length > 0) && timeline;
  });
  expect(parts.map(({ kind }) => kind)).toEqual(['content', 'break', 'content']);
  expect(parts[1]!.slots!.map(({ duration_ms: ms }) => ms)).toEqual([booked.durationMs]);
  expect(Math.abs(parts[2]!.content_start_ms! - 25_500)).toBeLessThanOrEqual(24);
});

/** What plays of an episode, and of line items, have left so far. */
async function leftBy(episodeId: string, lineItemIds: readonly string[]): Promise<unknown> {
  const database = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query(
      `select (select count(*) from delivery.binding where episode_id = $1) as bindings,
         (select count(*) from delivery.arrangement where episode_id = $1) as arrangements,
         (select sum(share_servings + share_opportunities) from serving.line_item_count where line_item_id = any($2)) as shares,
         (select sum(used) from serving.quota_lease where line_item_id = any($2)) as leases`,
      [episodeId, lineItemIds],
    );
    return rows[0];
  } finally {
    await database.end();
  }
}

test('10, as listeners hear it, in two countries: the files differ as targeted, and no play, lease, share or count is left by it', async () => {
  const { episodeId } = episode;
  const { workspace_id: workspaceId } = await world.operator.account(ada.accountId);
  const german = await advertisingOf(world, { account: { workspaceId }, rest: ada.rest }).book({
    ...{ name: 'Hafenfunk', type: 'house', goal: { unit: 'unlimited' }, positions: ['pre'], countries: ['DE'] },
    ad: path.join(world.folder, 'ad.wav'),
  });
  await publishPlan(world.operator, workspaceId);
  const left = () => leftBy(episodeId, [lineItemId, german.lineItemId]);
  const before = await left();

  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/episodes/${episodeId}`);
  await page.getByRole('button', { name: 'As listeners hear it' }).click();
  await page.getByLabel('Country').selectOption({ label: 'Germany' });
  await page.getByText('Ad 1 of 1, Hafenfunk').first().waitFor();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await until('the ad is heard', async () => (await secondsAt(page, 'Position')) > 0.2);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Why this ad?').first().click();
  await page.getByText(/^Won/).first().waitFor();
  await page.getByRole('button', { name: /^Play Harbour Radio at/ }).waitFor();
  await lookAt(page, 'as-listeners-hear');

  await page.getByLabel('Country').selectOption({ label: 'France' });
  await page.getByRole('button', { name: /^Play Harbour Radio at/ }).waitFor();
  expect(await page.getByRole('button', { name: /^Play Hafenfunk at/ }).count()).toBe(0);
  await page.getByText('Why none?').first().click();
  await page.getByText('It targets other countries').first().waitFor();
  expect(await left()).toEqual(before);
});

test('11, chapters and a transcript edited: the addresses of the feed give the new ones, retimed in the stitched file', async () => {
  const { episodeId, feedUrl } = episode;
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/episodes/${episodeId}`);
  await page.getByRole('link', { name: 'Chapters' }).click();
  await page.getByText('No chapter yet.').first().waitFor();
  for (const [at, title] of [
    ['0:00', 'Hello'],
    ['30', 'Goodbye'],
  ] as const) {
    await page.getByRole('button', { name: 'Add chapter here' }).click();
    const fields = page.getByRole('listitem').filter({ has: page.getByRole('textbox', { name: /^Start/ }) });
    const row = at === '0:00' ? fields.first() : fields.last();
    await row.getByRole('textbox', { name: /^Start/ }).fill(at === '0:00' ? at : 'soon');
    await row.getByRole('textbox', { name: /^Title/ }).fill(title);
  }
  const save = page.getByRole('button', { name: 'Save the chapters' });
  await save.click();
  await page.getByText('A start is a time of the recording').first().waitFor();
  await page.getByRole('textbox', { name: 'Start of chapter 2' }).fill('0:30');
  await lookAt(page, 'chapters');
  await save.click();
  await page.getByText('Everything is saved').first().waitFor();

  await page.getByRole('link', { name: 'Transcripts' }).click();
  await page.getByText('No transcript yet').first().waitFor();
  const file = path.join(world.folder, 'lamp.de.vtt');
  writeFileSync(file, 'WEBVTT\n\n00:00:10.000 --> 00:00:12.000\nDavor.\n\n00:00:31.000 --> 00:00:33.000\nDanach.\n');
  for (const name of ['lamp.de.vtt', 'lamp.en.vtt']) {
    const named = path.join(world.folder, name);
    copyFileSync(file, named);
    await page.getByLabel('File').setInputFiles(named);
    await page.getByText(`Chosen: ${name}`).first().waitFor();
    await page.getByRole('button', { name: 'Add the transcript' }).click();
    await page.getByRole('link', { name: name.includes('de') ? 'German as VTT' : 'English as VTT' }).waitFor();
  }
  expect(await page.getByText('2 lines').count()).toBe(2);
  await lookAt(page, 'transcripts');

  const feed = await until('the feed', async () => {
    const text = await (await fetch(feedUrl)).text();
    return text.includes('podcast:transcript') && text.includes('podcast:chapters') && text;
  });
  expect([...feed.matchAll(/<podcast:transcript [^>]*language="(\w+)"/g)].map(([, tag]) => tag)).toEqual(
    expect.arrayContaining(['de', 'en']),
  );
  const beside = await besideOf(feedUrl, `Reader/${Date.now()}`);
  const { chapters } = (await beside('chapters.json')) as { chapters: { startTime: number; title: string }[] };
  expect(chapters.map(({ title, startTime }) => [title, Math.round(startTime)])).toEqual([
    ['Hello', 0],
    ['Goodbye', 30 + adSeconds],
  ]);
});
