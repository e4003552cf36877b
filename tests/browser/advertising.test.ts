import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { samples } from '@longwave/local/samples';
import { until } from '@longwave/test-kit';
import { checkFeed, download, listServingsOfDownload, signUp, type Person } from '@longwave/test-kit/clients';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { heading, lookAt, newPodcaster, type Podcaster } from '../_console.ts';
import { encodedEpisode, publishedPodcast } from '../_hosting-world.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const stack = new AsyncDisposableStack();
let world: SharedInstallation;
let browser: TestBrowser;
let ada: Podcaster;
/** They decide what Ada asks for, in the same account. */
let ben: Person;
let cleo: Person;
let podcastId: string;
let workspace: string;

beforeAll(async () => {
  world = stack.use(await openSharedInstallation());
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
  [ben, cleo] = [await signUp(world, 'Ben Rope'), await signUp(world, 'Cleo Buoy')];
  ({ workspace_id: workspace } = await world.operator.account(ada.accountId));
  for (const { accountId, browser: session } of [ben, cleo]) {
    const ids = { owner_account_id: ada.accountId, member_account_id: accountId };
    const member = { ...ids, permissions: ['review'] };
    await world.operator.identityCommand(workspace, 'membership.add', { type: 'memberships' }, member);
    await session.post('/sign-in/account', { account: ada.accountId }, {}, '/sign-in/account');
  }
  podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  await Promise.all(
    ['The lamp', 'The fog'].map((title) => encodedEpisode(world, ada.rest, podcastId, { title, publish: true })),
  );
}, 120_000);
afterEach(() => expect(browser.takeFindings()).toEqual([]));
afterAll(() => stack.disposeAsync());

const press = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click();
const follow = (page: Page, name: string) =>
  page.getByRole('main').getByRole('link', { name, exact: true }).first().click();
const fill = (page: Page, name: string, text: string) => page.getByLabel(name, { exact: true }).fill(text);
/** The state in the head of a page, which follows changes by itself. */
const state = (page: Page, name: string) => page.getByRole('main').getByText(name, { exact: true }).first().waitFor();
/** One of the commands behind "More actions". */
const more = async (page: Page, name: string) => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
};
const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

/** What one test leaves to the next. */
const made = { line: '', creative: '' };

test('18, from an advertiser to a line item that delivers: a second person decides, and both browsers follow without a reload', async () => {
  await using tabs = new AsyncDisposableStack();
  const [hers, his] = [
    tabs.use(await browser.open({ session: ada.browser })),
    tabs.use(await browser.open({ session: ben.browser })),
  ];
  const [page, bens] = [hers.page, his.page];
  await hers.visit(`/w/${workspace}/advertisers`);
  await page.getByText('Nothing here yet').first().waitFor();
  await follow(page, 'New advertiser');
  await press(page, 'New advertiser');
  await page.getByText('This is needed.').first().waitFor();
  await fill(page, 'Legal name', 'Tidewater Tea Ltd');
  await press(page, 'New advertiser');
  await heading(page, 'Tidewater Tea Ltd').waitFor();
  const advertiser = new URL(page.url()).pathname;
  await press(page, 'Activate');
  await page.getByText('Activate waits for the review of another person').first().waitFor();

  await his.visit(advertiser);
  await state(bens, 'Draft');
  expect(await bens.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  await hers.visit(`/w/${workspace}/review_tasks`);
  await page.getByRole('link', { name: 'Activate (advertiser)' }).click();
  await page.getByText('You asked for this: another person decides.').first().waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await hers.visit(advertiser);
  await state(page, 'Draft');
  await bens.getByRole('link', { name: 'Reviews' }).click();
  await bens.getByRole('link', { name: 'Activate (advertiser)' }).click();
  await bens.getByText('What would change').first().waitFor();
  await press(bens, 'Approve');
  await state(page, 'Active');

  await follow(page, 'New campaign');
  await fill(page, 'Name', 'Autumn blend');
  await fill(page, 'Start, day', yesterday());
  await press(page, 'New campaign');
  await heading(page, 'Autumn blend').waitFor();
  await press(page, 'Submit');
  await press(page, 'Activate');
  await state(page, 'Active');
  await follow(page, 'New line item');
  await heading(page, 'New line item').waitFor();
  await fill(page, 'Name', 'Pre-roll, all listeners');
  await fill(page, 'Start, day', yesterday());
  await fill(page, 'Quantity', '1000');
  // A forecast is a job of its own, answered beside the form.
  await press(page, 'Ask how many');
  await page.getByText('Fit in all').first().waitFor({ timeout: 120_000 });
  await fill(page, 'Rate, EUR', '18.00');
  await page.getByText('More settings', { exact: true }).click();
  await press(page, 'Add: Frequency caps');
  const caps = page.getByRole('group', { name: 'Frequency caps' });
  await caps.getByLabel('At most', { exact: true }).fill('1');
  await caps.getByLabel('For each', { exact: true }).selectOption('Listener');
  await caps.getByLabel('Within (seconds)', { exact: true }).fill('86400');
  await press(page, 'New line item');
  await heading(page, 'Pre-roll, all listeners').waitFor();
  made.line = new URL(page.url()).pathname;

  await hers.visit(advertiser);
  await follow(page, 'New creative');
  await fill(page, 'Name', 'Autumn blend, 10 s');
  await press(page, 'New creative');
  await heading(page, 'Autumn blend, 10 s').waitFor();
  made.creative = new URL(page.url()).pathname;
  await page.getByLabel('Choose the ad’s file').setInputFiles(samples.ad);
  await page.getByText('Streams are ready').first().waitFor({ timeout: 60_000 });
  const [heard] = await Promise.all([
    page.waitForResponse((answer) => answer.request().resourceType() === 'media', { timeout: 60_000 }),
    press(page, 'Play'),
  ]);
  expect([heard.ok(), heard.headers()['content-type']]).toEqual([true, 'audio/mpeg']);
  await press(page, 'Submit');
  await heading(page, 'Submit: Autumn blend, 10 s').waitFor();
  await press(page, 'Submit');
  await state(page, 'Approved');

  await hers.visit(made.line);
  await follow(page, 'New assignment');
  await page.getByLabel('Creative', { exact: true }).selectOption({ label: 'Autumn blend, 10 s (Approved)' });
  await press(page, 'New assignment');
  await press(page, 'Activate');
  await state(page, 'Active');
  await hers.visit(made.line);
  await his.visit(made.line);
  await press(page, 'Submit');
  await state(bens, 'Approved');
  await press(page, 'Book');
  await heading(page, 'Book: Pre-roll, all listeners').waitFor();
  await press(page, 'Book');
  await state(bens, 'Booked');

  await page.getByRole('link', { name: 'Serving', exact: true }).click();
  await page.getByText('No plan is published: nothing serves.').first().waitFor();
  await follow(page, 'New serving plan');
  await press(page, 'New serving plan');
  await state(page, 'Ready');
  await press(page, 'Publish');
  await state(page, 'Published');
  await state(bens, 'Delivering');
  await hers.visit(made.line);
  await state(page, 'Delivering');
}, 180_000);

test('20, why this ad, and why not mine: the trace says who won, and of a line item that was capped so in words', async () => {
  await using hers = await browser.open({ session: ada.browser });
  const { page } = hers;
  const { feed_url: feedUrl } = await ada.rest.get<{ feed_url: string }>(`/podcasts/${podcastId}`);
  const [first = '', second = ''] = await until('both episodes in the feed', async () => {
    const feed = await (await fetch(feedUrl)).text();
    const found = [...feed.matchAll(/<enclosure [^>]*url="([^"]+)"/g)].map(([, url]) => url ?? '');
    return found.length === 2 ? found : undefined;
  });
  await hers.visit(made.line);
  await follow(page, 'Its decisions');
  const found = page.getByRole('table', { name: 'Decisions found' });
  const search = async (verdict: string) => {
    await page.getByLabel('What became of it', { exact: true }).selectOption(verdict);
    await press(page, 'Search');
    await page.waitForURL(`**verdict=${verdict}*`);
    await found.or(page.getByText('No decision found')).first().waitFor();
    return (await found.count()) > 0 || undefined;
  };
  const openFirst = () => found.getByRole('row').nth(1).getByRole('link').first().click();
  let listener = 0;
  await until('a play of a listener who had the ad before', async () => {
    listener += 1;
    const agent = `AntennaPod/3.4.${listener}`;
    if ((await listServingsOfDownload(await download(first, agent))).length === 0) return undefined;
    expect(await listServingsOfDownload(await download(second, agent))).toEqual([]);
    return search('capped');
  });
  await openFirst();
  await page.getByRole('definition').getByText('The listener had enough of it', { exact: true }).first().waitFor();
  await page.getByText('Stayed empty').first().waitFor();
  await page.getByText('Same answer', { exact: true }).waitFor();
  await lookAt(page, 'decision');
  await page.goBack();
  expect(await search('won')).toBe(true);
  await openFirst();
  await page.getByRole('definition').getByText('Won', { exact: true }).first().waitFor();
  await page.getByRole('listitem').getByRole('link', { name: 'Autumn blend, 10 s' }).first().waitFor();
});

test('21, a creative is halted: gone from new plays within five seconds, and its page says so', async () => {
  await using hers = await browser.open({ session: ada.browser });
  const { page } = hers;
  const { feed_url: feedUrl } = await ada.rest.get<{ feed_url: string }>(`/podcasts/${podcastId}`);
  const { enclosureUrl } = await until('the feed', () => checkFeed(feedUrl));
  let plays = 0;
  const adsOfPlay = async () => {
    plays += 1;
    return (await listServingsOfDownload(await download(enclosureUrl, `AntennaPod/3.5.${plays}`))).length;
  };
  await until('a play with the ad', async () => (await adsOfPlay()) > 0 || undefined);

  await hers.visit(made.creative);
  await follow(page, 'Halt');
  await fill(page, 'Reason', 'The price is wrong.');
  await press(page, 'Halt');
  await state(page, 'Active');
  const haltedAt = Date.now();
  await until('a play without the ad', async () => (await adsOfPlay()) === 0 || undefined);
  expect(Date.now() - haltedAt).toBeLessThan(5000);
  await page.getByRole('link', { name: 'Halts' }).first().click();
  await page.getByText('The price is wrong.').first().waitFor();
  await lookAt(page, 'halts');
});

test('19, a line item is paused, resumed, amended for later and stopped: each version has its receipt, and the stop waits for a review', async () => {
  await using tabs = new AsyncDisposableStack();
  const [hers, his] = [
    tabs.use(await browser.open({ session: ada.browser })),
    tabs.use(await browser.open({ session: ben.browser })),
  ];
  const [page, bens] = [hers.page, his.page];
  await hers.visit(made.line);
  await state(page, 'Delivering');
  for (const [command, cause, after] of [
    ['Pause', 'The customer asked.', 'Paused'],
    ['Resume', 'The customer is ready.', 'Delivering'],
  ] as const) {
    await press(page, command);
    await fill(page, 'Reason', cause);
    await press(page, command);
    await heading(page, 'Pre-roll, all listeners').waitFor();
    await state(page, after);
  }
  await press(page, 'Amend');
  await fill(page, 'Quantity', '2000');
  await fill(page, 'Takes effect, day', new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10));
  await fill(page, 'Takes effect, time', '12:00');
  await press(page, 'Amend');
  await page.getByText('Amendment to come').first().waitFor();
  await more(page, 'Stop for good');
  await fill(page, 'Reason', 'The customer ends it.');
  await press(page, 'Stop for good');
  await page.getByText('Stop for good waits for the review of another person').first().waitFor();
  await heading(page, 'Pre-roll, all listeners').waitFor();
  await lookAt(page, 'line-item-amended');

  await his.visit(`/w/${workspace}/review_tasks`);
  await bens.getByRole('link', { name: 'Stop for good (line item)' }).click();
  await press(bens, 'Approve');
  await state(page, 'Stopped');
  const history = page.getByRole('region', { name: 'History' });
  for (const command of ['Book', 'Flight began', 'Pause', 'Resume', 'Amend', 'Stop for good'])
    await history.getByText(command, { exact: true }).first().waitFor();
  expect(await history.getByText(/^rcp_/).count()).toBeGreaterThanOrEqual(7);
});

/** Opens a review that waits, and approves it. */
async function approve(tab: { readonly page: Page; readonly visit: (path: string) => Promise<void> }, title: string) {
  await tab.visit(`/w/${workspace}/review_tasks`);
  await tab.page.getByRole('link', { name: title, exact: true }).first().click();
  await press(tab.page, 'Approve');
  await tab.page.getByText('Approve: done').waitFor();
}

const today = () => new Date().toISOString().slice(0, 10);

/** Lays counts of the buyer beside ours, and answers once the items are there. */
async function reconcile(page: Page): Promise<void> {
  const line = made.line.split('/').at(-1)!;
  const counts = `Line item ID,Date,Impressions\n${line},${today()},900\n`;
  await follow(page, 'New reconciliation');
  await fill(page, 'Start, day', today());
  await fill(page, 'End, day', new Date(Date.now() + 86_400_000).toISOString().slice(0, 10));
  await page.getByRole('button', { name: 'Add: Line items' }).click();
  await page.getByLabel('Entry 1', { exact: true }).first().selectOption(line);
  const file = { name: 'counts.csv', mimeType: 'text/csv', buffer: Buffer.from(counts) };
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  await page.getByText('The file has been sent.').waitFor();
  await page.getByText('More settings').click();
  await page.getByLabel('Compare before the period is settled').check();
  await press(page, 'New reconciliation');
  await page.getByRole('table', { name: 'Open differences' }).waitFor({ timeout: 60_000 });
}

test('22, the numbers of the buyer are reconciled, and a statement without a closed reconciliation is made only after two others agree', async () => {
  await using tabs = new AsyncDisposableStack();
  const meant = [/^4\d\d POST .*billing_statement\.generate$/];
  const hers = tabs.use(await browser.open({ session: ada.browser, meant }));
  const [his, third] = [
    tabs.use(await browser.open({ session: ben.browser })),
    tabs.use(await browser.open({ session: cleo.browser })),
  ];
  const { page } = hers;
  await hers.visit(`/w/${workspace}/finance`);
  await reconcile(page);
  await page.getByRole('table', { name: 'Open differences' }).getByRole('link').first().click();
  await page.getByLabel('Decision', { exact: true }).selectOption({ label: 'Their number' });
  await fill(page, 'Note', 'Agreed by mail.');
  await press(page, 'Decide');
  await page.getByText('Decide waits for the review of another person').waitFor();
  await approve(his, 'Decide (reconciliation)');
  await page.getByRole('table', { name: 'Decided by people' }).waitFor();
  await lookAt(page, 'reconciliation');

  await hers.visit(`/w/${workspace}/billing_statements/new`);
  await page.getByLabel('Campaign', { exact: true }).selectOption({ index: 1 });
  await fill(page, 'Start, day', yesterday());
  await fill(page, 'End, day', today());
  const generate = async () => {
    await Promise.all([page.waitForResponse(/billing_statement\.generate$/), press(page, 'New statement')]);
  };
  // Until deliveries are counted up to the start of the flight there is nothing to charge.
  await until('a refusal for want of a reconciliation', async () => {
    await generate();
    return (await page.getByText('No closed reconciliation covers').count()) > 0 || undefined;
  });
  await page.getByText('More settings').click();
  await fill(page, 'Reason', 'The buyer counts nothing.');
  await generate();
  await page.getByText('New statement waits for the review of another person').waitFor();
  await approve(his, 'New statement (statement)');
  const statement = page.getByRole('main').getByRole('link', { name: /^Statement \d/ });
  expect(await statement.count()).toBe(0);
  await approve(third, 'New statement (statement)');
  await statement.click();
  // The flight began after the period: it is told so, and nobody is charged.
  await page.getByText('Nothing is due for this period').first().waitFor();
  await page.getByText('Charged without one: The buyer counts nothing.').waitFor();
  expect(await page.getByRole('main').getByText('Ads delivered').count()).toBeGreaterThan(0);
  expect(await page.getByRole('button', { name: 'Issue' }).count()).toBe(0);
}, 180_000);
