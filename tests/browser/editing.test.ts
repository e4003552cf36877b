import { createHash } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { makeAudio, repeatAudio, sha256, until } from '@longwave/test-kit';
import type { Page } from 'playwright-core';
import { acceptInvitation } from '@longwave/test-kit/clients';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { heading, lookAt, newPodcaster, type Podcaster } from '../_console.ts';
import type { ProductionView } from '../_fleet.ts';
import { encodedEpisode, hostingWorldOf, publishedPodcast, type HostingWorld } from '../_hosting-world.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

const stack = new AsyncDisposableStack();
let world: HostingWorld;
let browser: TestBrowser;
let ada: Podcaster;
beforeAll(async () => {
  world = stack.use(hostingWorldOf(await openSharedInstallation()));
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
});
afterEach(() => expect(browser.takeFindings()).toEqual([]));
afterAll(() => stack.disposeAsync());

const title = (page: Page) => page.getByRole('textbox', { name: 'Title' });
const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
const isSaved = (page: Page) => page.getByText('Everything is saved').first().waitFor();

test('2, an expired session in the middle of a form: signing in returns to the form with the text still there', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  await using tab = await browser.open({ session: ada.browser, meant: [/^401 /] });
  const { page } = tab;
  page.on('dialog', (dialog) => void dialog.accept());
  await tab.visit(`/podcasts/${podcastId}/settings`);
  await title(page).fill('Harbour Light, the second year');
  await ada.browser.post('/sign-out', {});
  await save(page);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('textbox', { name: 'E-mail' }).fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Unsaved text of your last visit is back.').first().waitFor();
  for (const { name, value } of await tab.context.cookies()) ada.browser.cookies.set(name, value);
  expect(await title(page).inputValue()).toBe('Harbour Light, the second year');
  await lookAt(page, 'restored-draft');
  await save(page);
  await isSaved(page);
  expect(await ada.rest.get(`/podcasts/${podcastId}`)).toMatchObject({ title: 'Harbour Light, the second year' });
});

test('5, 200 MB upload, reload at 40 %, choose the file again: no stored part is sent again, the digest equals the file’s', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  const file = repeatAudio(makeAudio(path.join(world.folder, 'concert.wav'), 29), 36);
  const name = path.basename(file);
  await using tab = await browser.open({ session: ada.browser });
  const { page, context } = tab;
  page.on('dialog', (dialog) => void dialog.accept());
  const stored: number[] = [];
  context.on('response', (response) => {
    const part = new URL(response.url()).searchParams.get('partNumber');
    if (response.request().method() === 'PUT' && part !== null && response.ok()) stored.push(Number(part));
  });
  let taken = 0;
  await page.route(
    ({ searchParams }) => searchParams.has('partNumber'),
    (route) => (route.request().method() === 'PUT' && ++taken > 3 ? undefined : route.continue()),
  );
  await tab.visit(`/podcasts/${podcastId}/new`);
  await page.getByLabel('Choose or drop the recording').setInputFiles(file);
  // Four are sent at once, another one after each that is kept.
  await until('three kept parts', () => taken >= 7, { timeoutMs: 180_000 });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.reload();
  await page.getByText('Waits for its file').first().waitFor();
  await lookAt(page, 'upload-goes-on');
  await page.getByLabel(`Choose ${name} again to go on`).setInputFiles(file);
  const episodeId = new URL(page.url()).searchParams.get('episode')!;
  const production = await until('the encoding', async () => {
    const all = await ada.rest.get<readonly ProductionView[]>(`/productions?episode_id=${episodeId}`);
    return all.find(({ state }) => state !== 'initial');
  });
  if (production.state === 'encoding') await ada.rest.post(`/productions/${production.id}/stop`);
  expect(stored.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const sent = await ada.rest.get<readonly { id: string; filename: string }[]>('/uploads');
  const { id } = sent.find(({ filename }) => filename === name)!;
  const { download_url: source } = await ada.rest.get<{ download_url: string }>(`/uploads/${id}`);
  const digest = createHash('sha256');
  for await (const chunk of (await fetch(source)).body!) digest.update(chunk);
  expect(digest.digest('hex')).toBe(sha256(readFileSync(file)));
});

test('7, not audio, too large, no encoding time: each is refused with its remedy, the draft stays', async () => {
  const setPlan = (plan: string) => world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan });
  await setPlan('hurried');
  await using after = new AsyncDisposableStack();
  after.defer(async () => void (await setPlan('network')));
  const podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  await using tab = await browser.open({
    session: ada.browser,
    meant: [/^402 POST \/api\/v1\/productions\/\w+\/start$/],
  });
  const { page } = tab;
  const [text, large] = [path.join(world.folder, 'notes.txt'), path.join(world.folder, 'opera.wav')];
  for (const file of [text, large]) writeFileSync(file, 'not a recording');
  truncateSync(large, 20 * 1024 ** 3 + 1);
  await tab.visit(`/podcasts/${podcastId}/new`);
  const choose = (file: string) => page.getByLabel('Choose or drop the recording').setInputFiles(file);
  await choose(text);
  await page.getByText('Choose the recording itself, as WAV, FLAC or MP3.').first().waitFor();
  await choose(large);
  await page.getByText('Save it as FLAC or MP3, then choose that.').first().waitFor();
  await lookAt(page, 'refused-file');
  await choose(makeAudio(path.join(world.folder, 'too long.wav'), 5));
  await page.getByText('Your plan has not enough encoding time left.').first().waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await lookAt(page, 'no-encoding-time');
  await page.getByRole('link', { name: 'Harbour Light' }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'too long' }) });
  await row.getByText('Draft').first().waitFor();
});

test('12, schedule across a DST change in Berlin: planned for the right instant, a time in the gap is refused at the field, one that comes twice is asked; archived, it is gone for good', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  const { episodeId } = await encodedEpisode(world, ada.rest, podcastId, { title: 'Fog signals', publish: false });
  const episode = () => ada.rest.get<{ state: string; publish_at?: string }>(`/episodes/${episodeId}`);
  await using tab = await browser.open({ session: ada.browser, timezoneId: 'Europe/Berlin' });
  const { page } = tab;
  await tab.visit(`/episodes/${episodeId}`);
  await page.getByRole('link', { name: 'Edit details' }).click();
  const plan = async (day: string, time: string) => {
    await page.getByLabel('Day').fill(day);
    await page.getByLabel('Time').fill(time);
  };
  const toast = (words: string) => page.getByRole('status').getByText(words).first().waitFor();
  await plan('2027-03-28', '02:30');
  await page.getByText('Clocks jump over this time that day.').first().waitFor();
  expect(await page.getByLabel('Time').getAttribute('aria-invalid')).toBe('true');
  await plan('2027-03-28', '03:30');
  await page.getByRole('button', { name: 'Schedule' }).click();
  await toast('The episode is scheduled');
  expect(await episode()).toMatchObject({ state: 'scheduled', publish_at: '2027-03-28T01:30:00.000Z' });
  await plan('2027-10-31', '02:30');
  await page.getByRole('radio', { name: 'after the change (UTC+1)' }).check();
  await page.getByRole('button', { name: 'Change the time' }).click();
  await until('the other instant', async () => (await episode()).publish_at === '2027-10-31T01:30:00.000Z');
  await lookAt(page, 'episode-details');

  await page.getByRole('button', { name: 'Archive for good' }).click();
  const dialog = page.getByRole('dialog', { name: 'Archive this episode for good' });
  await dialog.getByLabel('Type the title to go on').fill('Fog signals');
  await lookAt(page, 'archive');
  await dialog.getByRole('button', { name: 'Archive for good' }).click();
  await toast('Archived');
  await heading(page, 'Harbour Light').waitFor();
  await expect(episode()).rejects.toThrow('could not be found');
});

test('14, two people edit one podcast: the second gets the difference, keeps own fields, nothing is lost', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  await using tab = await browser.open({ session: ada.browser, meant: [/^412 PUT /] });
  const { page } = tab;
  await tab.visit(`/podcasts/${podcastId}/settings`);
  await title(page).fill('Harbour Light at night');
  await page.getByRole('textbox', { name: 'Website' }).fill('https://harbour.example/');
  await ada.rest.put(`/podcasts/${podcastId}`, { title: 'Harbour Light by day', copyright: '2026 Ben' });
  await save(page);
  const conflict = page.getByRole('group', { name: 'Title' });
  await conflict.getByText('Harbour Light by day').first().waitFor();
  await page.getByText('Now as they saved it: Copyright.').first().waitFor();
  expect(await page.getByRole('textbox', { name: 'Copyright' }).inputValue()).toBe('2026 Ben');
  await lookAt(page, 'conflict');
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await save(page);
  await isSaved(page);
  expect(await ada.rest.get(`/podcasts/${podcastId}`)).toMatchObject({
    ...{ title: 'Harbour Light at night', link: 'https://harbour.example/', copyright: '2026 Ben' },
  });
});

test('somebody is invited to help, stands in the list once the mail is accepted, and is gone when removed', async () => {
  const podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  const { email, rest } = await world.account('cora');
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/podcasts/${podcastId}/people`);
  await page.getByText('Nobody else works on this podcast yet.').first().waitFor();
  await page.getByRole('textbox', { name: 'Mail address' }).fill(email);
  await page.getByRole('radio', { name: 'Analyst' }).check();
  await page.getByRole('button', { name: 'Send the invitation' }).click();
  await page.getByText(`${email} is invited`).first().waitFor();
  await acceptInvitation(world, email);
  await until('the podcast', () => rest.get(`/podcasts/${podcastId}`).catch(() => undefined));
  await tab.visit(`/podcasts/${podcastId}/people`);
  await page.getByRole('button', { name: `Remove ${email}, Analyst` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Nobody else works on this podcast yet.').first().waitFor();
  await expect(rest.get(`/podcasts/${podcastId}`)).rejects.toThrow('could not be found');
});

test('24, what one may not see: another’s podcast is the same page as a missing one', async () => {
  const owner = await world.account('ben');
  const podcastId = await publishedPodcast(owner.rest, 'Harbour Light');
  await using tab = await browser.open({ meant: [/^404 GET /], session: ada.browser });
  const { page } = tab;
  const shown: string[] = [];
  for (const id of [podcastId, `pod_${'7'.padEnd(26, '0')}`]) {
    await tab.visit(`/podcasts/${id}`);
    await heading(page, 'This is not here').waitFor();
    shown.push((await page.getByRole('main').ariaSnapshot()).replaceAll(id, 'its id'));
  }
  expect(shown[0]).toBe(shown[1]);
  await lookAt(page, 'not-here');
});
