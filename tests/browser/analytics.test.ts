import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { download, listenerAgentOf } from '@longwave/test-kit/clients';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { heading, lookAt, newPodcaster, tabTo, type Podcaster } from '../_console.ts';
import { encodedEpisode, publishedPodcast } from '../_hosting-world.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const stack = new AsyncDisposableStack();
let world: SharedInstallation;
let browser: TestBrowser;
let ada: Podcaster;
let podcastId: string;
/** How many listeners each episode has. */
const listeners = { 'Fog signals': 3, 'Salt, rope, radio': 2 };
const all = 5;

interface Series {
  readonly meta: { readonly history_window?: { readonly from: string } };
  readonly objects: readonly { readonly date: string; readonly downloads: number }[];
}
/** What REST v1 answers of the podcast, in the zone of the browser. */
const countedBy = (query: string) =>
  ada.rest.get<Series>(`/podcasts/${podcastId}/analytics?${query}&time_zone=Europe/Berlin`);
const sumOf = ({ objects }: Series) => objects.reduce((sum, { downloads }) => sum + downloads, 0);

const setPlan = (plan: string) => world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan });

/** Changes the plan, and waits until the session of the page has it: a gateway remembers whom it let in for some seconds. */
async function changePlan(page: Page, plan: string): Promise<void> {
  await setPlan(plan);
  const headers = { 'sec-fetch-site': 'same-origin' };
  await until(`the plan ${plan}`, async () => {
    const answer = await page.request.get(`${world.fleet.urls.base}/api/v1/account`, { headers });
    return ((await answer.json()) as { plan: string }).plan === plan;
  });
}

beforeAll(async () => {
  world = stack.use(await openSharedInstallation());
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
  await setPlan('unlimited');
  podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  const published = Object.entries(listeners).map(async ([title, count]) => {
    const { episodeId } = await encodedEpisode(world, ada.rest, podcastId, { title, publish: true });
    // Bytes of a time before the publication are no download.
    const url = await until(`${title} in delivery`, async () => {
      const { enclosure_url: at } = await ada.rest.get<{ enclosure_url?: string }>(`/episodes/${episodeId}`);
      return at && (await fetch(at, { redirect: 'manual' })).status === 302 ? at : undefined;
    });
    for (let listener = 1; listener <= count; listener += 1) await download(url, listenerAgentOf(listener));
  });
  await Promise.all(published);
  await until('the downloads', async () => sumOf(await countedBy('days_offset=6')) === all, { timeoutMs: 60_000 });
});
afterEach(() => expect(browser.takeFindings()).toEqual([]));
afterAll(() => stack.disposeAsync());

const figure = (page: Page, name: string) => page.getByRole('term').filter({ hasText: name }).locator('xpath=..');
const downloadsShown = async (page: Page, count: number) =>
  until(
    `${count} downloads`,
    async () => (await figure(page, 'Downloads').innerText()).split('\n')[1] === String(count),
  );

/** What a button saves as CSV, line by line. */
async function savedBy(page: Page, button: Locator): Promise<readonly string[]> {
  const [saved] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await saved.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
}

/** The fields of a line of CSV. */
const fieldsOf = (line: string) =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** The cells of a table without its head, row by row. */
const cellsOf = async (table: Locator) =>
  Promise.all((await table.getByRole('row').all()).slice(1).map((row) => row.getByRole('cell').allInnerTexts()));

test('15, analytics: range, compare, filter and the back button; sums equal the API’s, CSV equals the table', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/podcasts/${podcastId}`);
  await page.getByRole('navigation', { name: 'Podcast', exact: true }).getByRole('link', { name: 'Analytics' }).click();
  await downloadsShown(page, all);
  const numbers = `/podcasts/${podcastId}/analytics`;
  const addressIs = (search: string) =>
    page.waitForURL(({ pathname, search: said }) => pathname + said === numbers + search);
  await page.getByRole('button', { name: '7 days', exact: true }).click();
  await addressIs('?range=7d');
  await page.getByRole('combobox', { name: 'Compare' }).selectOption('no comparison');
  await addressIs('?range=7d&compare=none');
  await downloadsShown(page, sumOf(await countedBy('days_offset=6')));
  await page.getByRole('combobox', { name: 'Episode' }).selectOption('Fog signals');
  await downloadsShown(page, listeners['Fog signals']);
  await page.reload();
  await downloadsShown(page, listeners['Fog signals']);
  await page.goBack();
  await addressIs('?range=7d&compare=none');
  await downloadsShown(page, all);
  await page.goBack();
  await addressIs('?range=7d');
  await page.goBack();
  await addressIs('');
  expect(await page.getByRole('combobox', { name: 'Compare' }).inputValue()).toBe('before');

  const episodes = page.getByRole('region', { name: 'Episodes' });
  await episodes.getByRole('button', { name: 'In the range' }).click();
  await addressIs('?sort=-range');
  const [head, ...lines] = await savedBy(page, episodes.getByRole('button', { name: 'CSV' }));
  const rows = await cellsOf(episodes.getByRole('table'));
  expect(head).toBe('Episode,Published,First 7 days,Against typical,In the range,Time zone');
  expect(rows.map(([title, , first, , inRange]) => [title, first, inRange])).toEqual(
    Object.entries(listeners).map(([title, count]) => [title, `${count} so far`, String(count)]),
  );
  expect(lines.map(fieldsOf).map((fields) => [fields[0], fields[2], fields[4]])).toEqual(
    rows.map(([title, , first, , inRange]) => [title, first!.replace(/ so far$/, ''), inRange]),
  );
  await lookAt(page, 'analytics');

  const file = page.getByRole('region', { name: 'All downloads as a file' });
  await file.getByRole('button', { name: 'Prepare the file' }).click();
  const address = await file.getByRole('link', { name: 'Download the CSV' }).getAttribute('href', { timeout: 120_000 });
  const [names, ...days] = (await (await fetch(address!)).text()).trim().split('\n').map(fieldsOf);
  const column = names!.indexOf('downloads');
  expect(days.reduce((sum, fields) => sum + Number(fields[column]), 0)).toBe(all);
});

test('17, a chart with the keyboard and what a screen reader says: points are spoken, the table has the same numbers', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/podcasts/${podcastId}/analytics?range=7d&compare=none`);
  await heading(page, 'Harbour Light').waitFor();
  const figureOf = page.getByRole('figure', { name: /^Downloads of Harbour Light a day, / });
  const chart = figureOf.getByRole('group', { name: /^Downloads of Harbour Light a day, / });
  await tabTo(page, chart);
  const spoken = chart.getByText(/: Downloads \d+/);
  const said: string[] = [];
  for (const key of ['Home', ...Array.from({ length: 6 }, () => 'ArrowRight')]) {
    await page.keyboard.press(key);
    said.push((await spoken.last().innerText()).replace(/\. Not complete yet$/, ''));
  }
  await page.keyboard.press('End');
  expect(await spoken.last().innerText()).toBe(`${said[6]}. Not complete yet`);
  await tabTo(page, figureOf.getByRole('button', { name: 'Table' }));
  await page.keyboard.press('Enter');
  const rows = await Promise.all(
    (await figureOf.getByRole('row').all()).slice(1).map(async (row) => {
      const day = await row.getByRole('rowheader').innerText();
      return `${day.replace(/ Not complete yet$/, '')}: Downloads ${await row.getByRole('cell').innerText()}`;
    }),
  );
  expect(rows).toEqual(said);
  const { objects } = await countedBy('days_offset=6&granularity=day');
  expect(said.map((text) => Number(text.split(' ').at(-1)))).toEqual(objects.map(({ downloads }) => downloads));

  await page.keyboard.press('Enter');
  await tabTo(page, chart);
  for (const key of ['End', 'Enter']) await page.keyboard.press(key);
  const day = objects.at(-1)!.date;
  await page.waitForURL(({ searchParams }) => searchParams.get('from') === day && searchParams.get('to') === day);
  await page.getByRole('heading', { name: 'Downloads an hour' }).waitFor();
});

test('16, ninety days of history: the wall is drawn, and no number stands beyond it', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await changePlan(page, 'ninety_days');
  await tab.visit(`/podcasts/${podcastId}/analytics?range=year&step=day`);
  await page.getByText('This plan shows the last 90 days').first().waitFor();
  await downloadsShown(page, all);
  const days = page.getByRole('region', { name: 'Downloads' });
  const [, ...lines] = await savedBy(page, days.getByRole('button', { name: 'CSV' }));
  const { meta, objects } = await countedBy('days_offset=364&granularity=day');
  expect(meta.history_window).toBeDefined();
  expect(lines.map((line) => line.split(','))).toEqual(
    objects.map(({ date, downloads }) => [date, 'Europe/Berlin', String(downloads)]),
  );
  expect(lines).toHaveLength(91);
  await lookAt(page, 'analytics-wall');

  // Nothing that the plan has not is asked for: a refusal would be found.
  await changePlan(page, 'silent');
  await tab.visit(`/podcasts/${podcastId}/analytics`);
  await page.getByRole('heading', { name: 'Numbers are not part of this plan' }).waitFor();
  await tab.visit(`/podcasts/${podcastId}`);
  await page.getByRole('link', { name: 'Fog signals' }).waitFor();
  await tab.visit('/');
  await page.getByText('Harbour Light').first().waitFor();
});
