import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { samples } from '@longwave/local/samples';
import { mailTo, makeAudio, sha256, until } from '@longwave/test-kit';
import { checkFeed, mailFolderOf } from '@longwave/test-kit/clients';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { keepPicture } from '../_check-page.ts';
import {
  chooseByKeyboard,
  dropFile,
  hasFocus,
  heading,
  lookAt,
  newPodcaster,
  type Podcaster,
  progressUntil,
  tabTo,
} from '../_console.ts';
import { encodedEpisode, publishedPodcast } from '../_hosting-world.ts';
import { startOutsideHost } from '../_outside-host.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const stack = new AsyncDisposableStack();
let world: SharedInstallation;
let browser: TestBrowser;
let ada: Podcaster;
beforeAll(async () => {
  world = stack.use(await openSharedInstallation());
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
  await world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan: 'unlimited' });
});
afterEach(() => expect(browser.takeFindings()).toEqual([]));
afterAll(() => stack.disposeAsync());

/** Whoever has no session is refused once. */
const noSession = /^401 GET \/management\/v1\/me$/;

test('1, sign up, sign in, sign out: the cookie has its flags, the back button shows nothing, the old cookie gives 401', async () => {
  await using tab = await browser.open({ meant: [noSession] });
  const { page, context } = tab;
  const email = `${newId('usr')}@example.com`;
  await tab.visit('/podcasts');
  await heading(page, 'Sign in to Longwave').waitFor();
  await lookAt(page, 'signed-out');
  await page.getByRole('link', { name: 'Sign up' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Ada Quay');
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByRole('button', { name: 'Send the mail' }).click();
  const { link } = await mailTo(mailFolderOf(world), email);
  await tab.visit(link);
  await page.getByLabel('New password').fill('a long password');
  await page.getByRole('button', { name: 'Finish' }).click();
  await page.getByRole('heading', { level: 2, name: 'No podcast yet' }).waitFor();

  const signOut = async () => {
    await page.getByRole('button', { name: 'Ada Quay' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
  };
  const sessionOf = async () => (await context.cookies()).find(({ name }) => name === 'lw_session');
  await signOut();
  expect(await sessionOf()).toBeUndefined();
  await tab.visit('/');
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByLabel('Password').fill('a long password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 2, name: 'No podcast yet' }).waitFor();
  const cookie = await sessionOf();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/', domain: 'localhost' });

  await signOut();
  await page.goBack();
  await heading(page, 'Sign in to Longwave').waitFor();
  expect(await page.getByText('Ada Quay').count()).toBe(0);
  const answer = await fetch(`${world.fleet.urls.base}/api/v1/account`, {
    headers: { cookie: `lw_session=${cookie!.value}`, 'sec-fetch-site': 'same-origin' },
  });
  expect(answer.status).toBe(401);
});

test('3, first visit, podcast, artwork, publish: refusals name the missing fields at the fields, the feed answers 200', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit('/');
  await page.getByRole('heading', { level: 2, name: 'No podcast yet' }).waitFor();
  await lookAt(page, 'first-visit');
  await page.getByRole('main').getByRole('link', { name: 'New podcast' }).click();
  await heading(page, 'New podcast').waitFor();
  await page.getByRole('button', { name: 'Make the podcast' }).click();
  await until('the focus', () => hasFocus(page, page.getByRole('textbox', { name: 'Title' })));
  await lookAt(page, 'new-podcast');
  await page.getByRole('textbox', { name: 'Title' }).fill('Harbour Light');
  await page.getByRole('button', { name: 'Make the podcast' }).click();
  await heading(page, 'Harbour Light').waitFor();

  await page.getByRole('button', { name: 'Publish now' }).click();
  const [description, category, author] = [
    page.getByRole('textbox', { name: 'Description' }),
    page.getByRole('combobox', { name: 'Category', exact: true }),
    page.getByRole('textbox', { name: 'Author' }),
  ];
  for (const field of [description, category, author]) expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByText('Directories need this before you can publish.').count()).toBe(4);
  await until('the focus', () => hasFocus(page, description));

  await description.fill('Stories from the harbour.');
  await category.selectOption('Arts');
  await author.fill('Ada Quay');
  await page.getByLabel('Artwork').setInputFiles(samples.artwork);
  await page.getByText('Uploaded. It counts once you save.').first().waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Everything is saved').first().waitFor();
  await lookAt(page, 'podcast-settings');
  await page.getByRole('button', { name: 'Publish now' }).click();
  await page.getByText('The feed is public').first().waitFor();
  await page.getByRole('link', { name: 'Details' }).click();
  const feedUrl = await page.getByRole('definition').filter({ hasText: '://' }).first().innerText();
  await lookAt(page, 'podcast-details');
  const feed = await until('the feed', async () => {
    const answer = await fetch(feedUrl);
    return answer.ok && answer.text();
  });
  expect(feed).toContain('<title>Harbour Light</title>');
});

test('4, drop a WAV, type meanwhile, publish when ready: progress rises through upload and encoding, the feed has the enclosure', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Salt & Steam');
  await using tab = await browser.open({ session: ada.browser });
  const { page, context } = tab;
  const file = makeAudio(path.join(world.folder, 'fog_signals.wav'), 40);
  await tab.visit(`/podcasts/${podcastId}/new`);
  await heading(page, 'New episode').waitFor();
  await lookAt(page, 'new-episode');
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2_500_000 },
  });
  await dropFile(page, page.getByText('Choose or drop the recording'), file);
  const uploading = progressUntil(page, 'fog_signals.wav', page.getByRole('progressbar', { name: 'Encoding' }));
  await page.getByRole('textbox', { name: 'Title' }).fill('Fog signals');
  await page.getByRole('textbox', { name: 'Notes' }).fill('<p>Why the horn is silent.</p>');
  await page.getByRole('checkbox', { name: 'Publish when ready' }).check();
  await page.getByRole('button', { name: 'Save the details' }).click();
  await page.getByText('Everything is saved').first().waitFor();
  await keepPicture(page, 'new-episode-uploading');
  const published = page.getByRole('link', { name: 'See the published episode' });
  for (const seen of [await uploading, await progressUntil(page, 'Encoding', published)]) {
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  }
  await lookAt(page, 'new-episode-published');

  await published.click();
  await heading(page, 'Fog signals').waitFor();
  await page.getByText('Why the horn is silent.').first().waitFor();
  await page.getByText('MP3').first().waitFor();
  await lookAt(page, 'episode');
  // The recording itself is for the service alone; listeners get what was encoded.
  const uploads = await ada.rest.get<readonly { filename: string; file_url: string }[]>('/uploads');
  const recording = uploads.find(({ filename }) => filename === 'fog_signals.wav')!;
  expect((await fetch(recording.file_url)).status).toBe(404);
  const { feed_url: feedUrl } = await ada.rest.get<{ feed_url: string }>(`/podcasts/${podcastId}`);
  const { enclosureUrl } = await until('the feed', () => checkFeed(feedUrl));
  expect(await page.getByRole('link', { name: 'Listen' }).getAttribute('href')).toBe(enclosureUrl);
  expect(await (await fetch(feedUrl)).text()).toContain('<title>Fog signals</title>');
  await page.getByRole('link', { name: 'Salt & Steam' }).click();
  await page.getByRole('link', { name: 'Fog signals' }).waitFor();
  await lookAt(page, 'podcast');
  await page.getByRole('link', { name: 'Podcasts' }).first().click();
  await page.getByRole('link', { name: 'Salt & Steam' }).waitFor();
  await lookAt(page, 'podcasts');
  await page.getByRole('link', { name: 'Home' }).click();
  await page.getByText('Fog signals').first().waitFor();
  await lookAt(page, 'home');
});

test('3 and 4 with the keyboard alone: the focus is never lost, and each step is reached with Tab', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  const press = async (...given: Parameters<typeof page.getByRole>) => {
    await tabTo(page, page.getByRole('main').getByRole(...given));
    await page.keyboard.press('Enter');
  };
  const arrive = (name: string) => until(`the focus on ${name}`, () => hasFocus(page, heading(page, name)));
  const type = async (name: string, text: string) => {
    await tabTo(page, page.getByRole('textbox', { name }));
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(text);
  };
  const toast = (text: string) => page.getByRole('status').getByText(text).first().waitFor();

  await tab.visit('/podcasts');
  await press('link', { name: 'New podcast' });
  await arrive('New podcast');
  await type('Title', 'Night Ferry');
  await type('Description', 'Stories from the harbour.');
  await chooseByKeyboard(page, page.getByRole('button', { name: 'Choose a picture' }), samples.artwork);
  await tabTo(page, page.getByRole('combobox', { name: 'Category', exact: true }));
  await page.keyboard.type('Arts');
  await type('Author', 'Ada Quay');
  await page.getByText('Uploaded. It counts once you save.').first().waitFor();
  await press('button', { name: 'Make the podcast' });
  await arrive('Night Ferry');
  await press('button', { name: 'Publish now' });
  await toast('The feed is public');
  await press('link', { name: 'New episode' });
  await arrive('New episode');
  const file = makeAudio(path.join(world.folder, 'the lamp.wav'), 5);
  await chooseByKeyboard(page, page.getByLabel('Choose or drop the recording'), file);
  await tabTo(page, page.getByRole('checkbox', { name: 'Publish when ready' }));
  await page.keyboard.press('Space');
  await press('link', { name: 'See the published episode' });
  await arrive('the lamp');
});

test('8, a show of which one item is broken is moved in: seen before anything is made, GUIDs kept, the others done, the broken one says why, Retry works', async () => {
  await using outside = await startOutsideHost(world.outsidePort);
  const audio = { type: 'audio/mpeg', path: makeAudio(path.join(world.folder, 'story.mp3'), 1) };
  const numbers = Array.from({ length: 6 }, (_, index) => index + 1);
  const broken = 4;
  for (const n of numbers) if (n !== broken) outside.files.set(`/${n}.mp3`, audio);
  const item = (n: number) =>
    `<item><title>Story ${n}.</title><guid isPermaLink="false">story-${n}</guid><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate>` +
    `<enclosure url="${outside.origin}/${n}.mp3" length="1000000" type="audio/mpeg"/></item>`;
  const channel = '<title>Old Harbour</title><language>en</language><itunes:author>Ada Quay</itunes:author>';
  const text = `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>${channel}${numbers.map(item).join('')}</channel></rss>`;
  outside.files.set('/feed.xml', { type: 'application/rss+xml', text });

  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit('/podcasts/import');
  await page.getByRole('textbox', { name: 'Address of its feed' }).fill(`${outside.origin}/feed.xml`);
  await page.getByRole('button', { name: 'Look at the feed' }).click();
  await page.getByText('6 MB').first().waitFor();
  await lookAt(page, 'import');
  await page.getByRole('button', { name: 'Move it in' }).click();
  await heading(page, 'Old Harbour').waitFor();
  await page.getByText('6 of 6 items are done.').first().waitFor({ timeout: 120_000 });
  const row = page.getByRole('row', { name: `Story ${broken}.` });
  await row.getByText('Failed').first().waitFor();
  await lookAt(page, 'import-report');

  const podcastId = /pod_\w+/.exec(page.url())![0];
  const items = async () =>
    ada.rest.get<{ guid: string; state: string; problem?: string }[]>(
      `/podcasts/${podcastId}/import/items?per_page=100`,
    );
  const before = await items();
  expect(before.map(({ guid }) => guid)).toEqual(numbers.map((n) => `story-${n}`));
  expect(before.filter(({ state }) => state === 'encoded')).toHaveLength(5);
  const { problem } = before.find(({ state }) => state === 'failed')!;
  await row.getByText(problem!).waitFor();

  outside.files.set(`/${broken}.mp3`, audio);
  await row.getByRole('button', { name: 'Try again' }).click();
  await row.getByText('Draft, encoded').first().waitFor({ timeout: 120_000 });
  expect((await items()).every(({ state }) => state === 'encoded')).toBe(true);
});

/** The SHA-256 of what a listener gets of each episode now. */
const digestsOf = async (episodeIds: readonly string[]): Promise<readonly string[]> =>
  Promise.all(
    episodeIds.map(async (id) => {
      const { enclosure_url: url } = await ada.rest.get<{ enclosure_url: string }>(`/episodes/${id}`);
      // Another listener each time: one keeps the file of a play that has begun.
      const answer = await fetch(url, { headers: { 'user-agent': newId('req') } });
      return createHash('sha256')
        .update(Buffer.from(await answer.arrayBuffer()))
        .digest('hex');
    }),
  );

test('13, an intro is replaced, all episodes get it, and it is taken back: progress to all, the old bytes are back', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Lantern Room');
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/podcasts/${podcastId}/settings`);
  const intro = page.getByRole('group', { name: 'Intro' });
  const choose = async (seconds: number) => {
    await intro
      .getByLabel('File of the intro')
      .setInputFiles(makeAudio(path.join(world.folder, `bells-${seconds}.wav`), seconds));
    await until('the prepared intro', async () => {
      const { intro: part } = await ada.rest.get<{ intro?: { state: string; duration_ms?: number } }>(
        `/podcasts/${podcastId}`,
      );
      return part?.state === 'ready' && Math.abs((part.duration_ms ?? 0) - seconds * 1000) < 500;
    });
    await intro.getByText('Ready').waitFor();
  };
  await choose(1);
  const episodeIds: string[] = [];
  for (const title of ['Wick', 'Oil'])
    episodeIds.push((await encodedEpisode(world, ada.rest, podcastId, { title, publish: true, seconds: 3 })).episodeId);
  const before = await until('the files', () => digestsOf(episodeIds), { despiteErrors: true });
  await choose(2);
  expect(await digestsOf(episodeIds)).toEqual(before);

  await page.getByRole('button', { name: 'Put them into all episodes' }).click();
  await page.getByText('2 of 2 episodes have them.').waitFor({ timeout: 120_000 });
  await until('the new intro', async () => (await digestsOf(episodeIds)).every((now, at) => now !== before[at]));
  await lookAt(page, 'podcast-sound');
  await page.getByRole('button', { name: 'Take it back' }).click();
  await page.getByText('Taken back: 2 of 2 episodes').waitFor({ timeout: 120_000 });
  await until('the old bytes', async () => (await digestsOf(episodeIds)).every((now, at) => now === before[at]));
});

test('6, the store is away while a file is sent: the upload goes on by itself, with one message and no duplicate', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Fog Bank');
  await using tab = await browser.open({ session: ada.browser, meant: [/^503 PUT /] });
  const { page, context } = tab;
  const stored: string[] = [];
  context.on('response', (response) => {
    if (response.request().method() === 'PUT' && response.ok()) stored.push(response.url());
  });
  const store = new URL(world.fleet.objectStore.endpoint).origin;
  let refused = 0;
  await page.route(
    ({ origin }) => origin === store,
    async (route) => {
      if (route.request().method() !== 'PUT') return route.continue();
      refused += 1;
      await route.fulfill({
        status: 503,
        headers: { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' },
      });
    },
  );
  const file = makeAudio(path.join(world.folder, 'foghorn.wav'), 3);
  await tab.visit(`/podcasts/${podcastId}/new`);
  await page.getByLabel('Choose or drop the recording').setInputFiles(file);
  const message = page.getByText('The store does not answer; trying again');
  await message.waitFor();
  await until('another try', () => refused > 1);
  expect(await message.count()).toBe(1);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const [episode, ...others] = await until('the recording', async () => {
    const all = await ada.rest.get<readonly { current_production_id?: string }[]>(`/podcasts/${podcastId}/episodes`);
    return all.some(({ current_production_id: current }) => current !== undefined) && all;
  });
  expect(others).toEqual([]);
  expect(stored).toHaveLength(1);
  expect(episode!.current_production_id).toBeDefined();
  const sent = await ada.rest.get<readonly { id: string; filename: string }[]>('/uploads');
  const { id } = sent.find(({ filename }) => filename === path.basename(file))!;
  const { download_url: source } = await ada.rest.get<{ download_url: string }>(`/uploads/${id}`);
  const digest = createHash('sha256').update(Buffer.from(await (await fetch(source)).arrayBuffer()));
  expect(digest.digest('hex')).toBe(sha256(readFileSync(file)));
});
