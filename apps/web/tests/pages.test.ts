import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findBrowser, until } from '@longwave/test-kit';
import type { AxeResults } from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { startStandIn } from '../tools/stand-in.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where screenshots of the pages go, for people to look at; nowhere without the variable. */
const screenshots = process.env['SCREENSHOT_FOLDER'];

const stack = new AsyncDisposableStack();
let url = '';
let browser: Browser;
beforeAll(async () => {
  const server = await startStandIn(0);
  stack.defer(() => void server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] });
  stack.defer(() => browser.close());
});
afterAll(() => stack.disposeAsync());

/** A page of the console, and everything that went wrong in it; a refusal of its policy is an error of the console too. */
async function open(context: BrowserContext, address: string): Promise<{ page: Page; findings: string[] }> {
  const page = await context.newPage();
  const findings: string[] = [];
  page.on('console', (message) => message.type() === 'error' && findings.push(message.text()));
  page.on('pageerror', (error) => findings.push(error.message));
  page.on('request', (one) => one.url().startsWith(url) || findings.push(one.url()));
  await page.goto(`${url}${address}`);
  return { page, findings };
}

/** In the page: how far it scrolls sideways, and its headings of the first order. */
const measured = `[
  document.documentElement.scrollWidth - document.documentElement.clientWidth,
  document.querySelectorAll('h1').length,
]`;

/** The end of ids in answers-ads.json. */
const one = '1'.padStart(26, '0');

/** Every page, with something that it shows when all of it has come. The rules of accessibility are tried on one page of each kind: they are slow. */
const pages = [
  { isTried: true, address: '/', shows: 'The outro could not be encoded' },
  { isTried: false, address: '/podcasts', shows: 'Salt & Steam' },
  { isTried: true, address: '/podcasts/pod_harbour', shows: '12,480' },
  { isTried: true, address: '/podcasts/pod_harbour/analytics', shows: 'Listeners a month' },
  { isTried: true, address: '/analytics', shows: 'Downloads of 2 podcasts' },
  { isTried: false, address: '/episodes/ep_14/numbers', shows: 'Downloads a day' },
  { isTried: true, address: '/podcasts/pod_harbour/people', shows: 'ben@salt.example' },
  { isTried: true, address: '/analytics/reports', shows: 'October 2026' },
  { isTried: false, address: '/podcasts/pod_salt', shows: 'No episode yet' },
  { isTried: false, address: '/podcasts/pod_harbour/details', shows: 'Harbour Museum' },
  { isTried: false, address: '/podcasts/import', shows: 'Address of its feed' },
  { isTried: true, address: '/podcasts/pod_salt/import', shows: '41 of 60 items' },
  { isTried: true, address: '/podcasts/pod_salt/settings', shows: '7 of 12 episodes are done' },
  { isTried: true, address: '/podcasts/pod_harbour/feed', shows: 'Check the feed' },
  { isTried: true, address: '/podcasts/pod_harbour/website', shows: 'Player for your own pages' },
  { isTried: true, address: '/episodes/ep_14', shows: 'MP3 128 kbit/s, 46.3 MB' },
  { isTried: true, address: '/episodes/ep_14/chapters', shows: 'Save the chapters' },
  { isTried: false, address: '/episodes/ep_14/transcripts', shows: '812 lines' },
  { isTried: false, address: '/podcasts/pod_harbour/new?episode=ep_16', shows: 'Save the details' },
  // Advertising.
  { isTried: true, address: `/w/ws_1/line_items/li_${one}`, shows: 'Others were ahead of it' },
  { isTried: true, address: '/w/ws_1/line_items/new', shows: 'More settings' },
  {
    isTried: true,
    address: `/w/ws_1/line_items/li_${'2'.padStart(26, '0')}/line_item.revise`,
    shows: '32 of 168 hours',
  },
  { isTried: true, address: `/w/ws_1/review_tasks/rvt_${one}`, shows: 'What would change' },
  { isTried: false, address: '/w/ws_1/campaigns', shows: 'Northwind Coffee GmbH' },
  { isTried: false, address: '/w/ws_1/break_plans/new', shows: 'Length at most (ms)' },
  // Decisions.
  { isTried: false, address: '/w/ws_1/decisions?purpose=audit', shows: 'Search further back' },
  {
    ...{ isTried: true, address: `/w/ws_1/decisions/dec_${one}?purpose=audit&line=li_${'2'.padStart(26, '0')}` },
    shows: 'came out the same',
  },
  // Finance.
  { isTried: true, address: '/w/ws_1/finance', shows: '3 open differences' },
  { isTried: true, address: `/w/ws_1/reconciliations/rec_${one}?item=itm_1`, shows: 'Decide this item' },
  { isTried: true, address: `/w/ws_1/billing_statements/bil_${one}`, shows: 'Corrections of earlier periods' },
  { isTried: false, address: `/w/ws_1/report_runs/rpr_${one}`, shows: 'Download CSV' },
  { isTried: false, address: '/w/ws_1/reconciliations/new', shows: 'Columns of the file' },
  { isTried: false, address: '/w/ws_1/billing_statements', shows: 'JPY 216,720' },
  { isTried: false, address: `/w/ws_1/report_runs/new?definition_id=rpd_${one}`, shows: 'Copy as request' },
  // The workspace.
  { isTried: true, address: '/w/ws_1/setup', shows: 'acme-player: Machine' },
  { isTried: false, address: `/w/ws_1/policies/pol_${one}`, shows: '1 hour' },
  { isTried: false, address: `/w/ws_1/machine_keys/key_${one}`, shows: 'Fingerprint' },
  { isTried: false, address: '/nothing/here', shows: 'There is no such page' },
];

const looks = {
  'wide and light': { viewport: { width: 1440, height: 1000 }, colorScheme: 'light' },
  'narrow and dark': { viewport: { width: 360, height: 780 }, colorScheme: 'dark' },
} satisfies Readonly<Record<string, BrowserContextOptions>>;

/** What axe-core finds. Its rules look at structure, which is the same in both looks, and at colours and sizes, which are not. */
async function violationsOf(page: Page, look: keyof typeof looks): Promise<readonly string[]> {
  await page.evaluate(axe);
  const rules = look === 'wide and light' ? '{}' : "{ runOnly: ['color-contrast', 'target-size'] }";
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${rules})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${String(target)}`));
}

describe.each(Object.keys(looks) as (keyof typeof looks)[])('on a screen that is %s', (look) => {
  let page: Page;
  let findings: string[];
  beforeAll(async () => {
    const context = await browser.newContext({ ...looks[look], locale: 'en-GB', reducedMotion: 'reduce' });
    stack.defer(() => context.close());
    ({ page, findings } = await open(context, '/'));
  });

  test.each(pages)('$address is whole, accessible and obeys its policy', async ({ address, shows, isTried }) => {
    await page.goto(`${url}${address}`);
    await page.getByText(shows, { exact: false }).first().waitFor();
    expect(await page.evaluate(measured)).toEqual([0, 1]);
    expect(isTried ? await violationsOf(page, look) : []).toEqual([]);
    expect(findings).toEqual([]);
    if (screenshots === undefined) return;
    mkdirSync(screenshots, { recursive: true });
    await page.screenshot({ path: path.join(screenshots, `${look}${address}`.replaceAll(/[ /?=]/g, '-') + '.png') });
  });
});

test('a feed is shown before anything is made of it; another address is looked at anew', async () => {
  await using context = await browser.newContext({ locale: 'en-GB', viewport: { width: 360, height: 780 } });
  const { page, findings } = await open(context, '/podcasts/import');
  const address = page.getByRole('textbox', { name: 'Address of its feed' });
  await address.fill('https://old.example/salt.xml');
  await page.getByRole('button', { name: 'Look at the feed' }).click();
  await page.getByText('2.1 GB').waitFor();
  await page.getByText('1 item would fail').waitFor();
  expect(await page.evaluate(measured)).toEqual([0, 1]);
  expect(await violationsOf(page, 'wide and light')).toEqual([]);
  await page.getByRole('button', { name: 'Move it in' }).waitFor();
  await address.fill('https://old.example/other.xml');
  await page.getByRole('button', { name: 'Look at the feed' }).waitFor();
  expect(await page.getByText('2.1 GB').count()).toBe(0);
  expect(findings).toEqual([]);
});

test('a feed that takes too long to be looked at can be moved in all the same; one that is refused cannot', async () => {
  await using context = await browser.newContext({ locale: 'en-GB', viewport: { width: 360, height: 780 } });
  const { page } = await open(context, '/podcasts/import');
  const answers = [504, 422];
  await page.route('**/podcasts/import/preview', (route) => route.fulfill({ status: answers.shift()!, json: {} }));
  await page.getByRole('textbox', { name: 'Address of its feed' }).fill('https://old.example/long.xml');
  await page.getByRole('button', { name: 'Look at the feed' }).click();
  await page.getByText('You can move it in all the same').waitFor();
  await page.getByRole('button', { name: 'Move it in' }).waitFor();
  expect(await page.evaluate(measured)).toEqual([0, 1]);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: 'Look at the feed' }).waitFor();
  await page.getByRole('alert').waitFor();
  expect(await page.getByText('You can move it in all the same').count()).toBe(0);
});

test('a table keeps its search and its order in the address, and the back button leads to the page before', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const { page } = await open(context, '/podcasts');
  await page.getByRole('link', { name: 'Harbour Light' }).click();
  await page.getByRole('button', { name: 'Last 30 days' }).click();
  await page.getByRole('searchbox').fill('LOGBOOK');
  await page.getByText('1 to 1 of 1').waitFor();
  expect(page.url()).toBe(`${url}/podcasts/pod_harbour?q=LOGBOOK&sort=-downloads`);
  await page.reload();
  await page.getByText('1 to 1 of 1').waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Podcasts', level: 1 }).waitFor();
});

test('after a navigation the heading of the new page has the focus; a closed menu gives it back', async () => {
  await using context = await browser.newContext({ locale: 'de-DE' });
  const { page } = await open(context, '/');
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  await page.getByRole('link', { name: 'Podcasts', exact: true }).press('Enter');
  await page.getByRole('link', { name: 'Harbour Light' }).waitFor();
  await until('the focus on the heading', () => page.evaluate("document.activeElement.matches('h1')"));
  expect(await focused()).toBe('Podcasts');
  await page.getByRole('button', { name: 'Ada Quay' }).press('Enter');
  // Asked from outside: the policy of the page lets no text be run by the page itself.
  const roleOfFocus = () => page.evaluate<string | null>("document.activeElement.getAttribute('role')");
  await until('the first entry', async () => (await roleOfFocus()) === 'menuitemradio');
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  expect(await focused()).toBe('Ada Quay');
  await page.reload();
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
});

test('the heading of a page whose thing is still read has the focus once it is there', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const { page } = await open(context, '/podcasts/pod_harbour');
  const answer = Promise.withResolvers<void>();
  await page.route('**/api/v1/episodes/*', async (route) => {
    await answer.promise;
    await route.continue();
  });
  const link = page.getByRole('link', { name: 'A keeper’s logbook' });
  const title = await link.innerText();
  await link.press('Enter');
  await page.waitForURL('**/episodes/*');
  const heading = page.getByRole('heading', { level: 1 });
  await heading.waitFor({ state: 'detached' });
  answer.resolve();
  await heading.waitFor();
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe(title);
});

test('without a session one refusal is enough: every page leads to signing in, and back to its own address', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const refusal = { status: 401, contentType: 'application/json', body: '{"code":401,"message":"No session."}' };
  const asked: string[] = [];
  await context.route('**/v1/**', (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.fulfill(refusal);
  });
  const { page } = await open(context, '/podcasts/pod_harbour?state=draft');
  const link = page.getByRole('link', { name: 'Sign in' });
  expect(await link.getAttribute('href')).toBe('/sign-in?return_to=%2Fpodcasts%2Fpod_harbour%3Fstate%3Ddraft');
  expect(await violationsOf(page, 'wide and light')).toEqual([]);
  expect(asked).toEqual(['/management/v1/me']);
});

test('signing out is the POST of a form, which leaves the console', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const { page } = await open(context, '/');
  const [sent] = await Promise.all([
    page.waitForRequest(`${url}/sign-out`),
    page.getByRole('button', { name: 'Ada Quay' }).press('Enter'),
    page.getByRole('menuitem', { name: 'Sign out' }).click(),
  ]);
  expect([sent.method(), sent.isNavigationRequest(), await sent.headerValue('content-type')]).toEqual([
    'POST',
    true,
    'application/x-www-form-urlencoded',
  ]);
});

test('whoever may not see numbers is told so, and nothing that would be refused is asked', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const asked: string[] = [];
  context.on('request', (one) => asked.push(new URL(one.url()).pathname));
  await context.route(/\/api\/v1\/podcasts(\/pod_harbour)?(\?|$)/, async (route) => {
    const answer = await route.fetch();
    const text = (await answer.text()).replaceAll('"available"', '"not_permitted"');
    await route.fulfill({ response: answer, body: text });
  });
  const { page } = await open(context, '/podcasts/pod_harbour/analytics');
  await page.getByRole('heading', { name: 'You may not see numbers of this podcast' }).waitFor();
  await page.goto(`${url}/podcasts/pod_harbour`);
  await page.getByText('Salt, rope, radio').waitFor();
  for (const address of ['/', '/podcasts']) {
    await page.goto(`${url}${address}`);
    await page.getByText('Harbour Light').first().waitFor();
  }
  expect(asked.filter((pathname) => /overview|analytics\/|insights/.test(pathname))).toEqual([]);
});

test('a decision is read once somebody has said what for; whoever may not read any sees the page of what is not there', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const asked: string[] = [];
  context.on(
    'request',
    (request) => request.url().includes('/v1/workspaces/ws_1/decisions') && asked.push(request.url()),
  );
  const { page } = await open(context, `/w/ws_1/decisions/dec_${one}`);
  await page.getByLabel('What for', { exact: true }).selectOption('Audit');
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Read the decision' }).click();
  await page.getByRole('heading', { name: 'Decision of 27 Nov 2026, 10:14' }).waitFor();
  await page.getByLabel('Line item', { exact: true }).selectOption('Pre-roll, all listeners');
  await page.getByRole('definition').getByText('The listener had enough of it').waitFor();
  expect(asked).toEqual([`${url}/management/v1/workspaces/ws_1/decisions/dec_${one}/trace?purpose=audit`]);

  await context.route('**/management/v1/me', async (route) => {
    const answer = await route.fetch();
    const me = (await answer.json()) as { workspaces: { roles: string[] }[] };
    for (const workspace of me.workspaces) workspace.roles = ['analyst'];
    await route.fulfill({ response: answer, json: me });
  });
  for (const address of ['/w/ws_1/decisions', `/w/ws_1/decisions/dec_${one}?purpose=audit`]) {
    await page.goto(`${url}${address}`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(await page.getByRole('link', { name: 'Decisions' }).count()).toBe(0);
  }
  expect(asked).toHaveLength(1);
});

/** A square picture that may be artwork. */
const drawPicture = (page: Page) =>
  page.evaluate<string>(`{
    const canvas = Object.assign(document.createElement('canvas'), { width: 1400, height: 1400 });
    canvas.getContext('2d').fillRect(0, 0, 700, 1400);
    canvas.toDataURL('image/png');
  }`);

test('nothing is saved while artwork is on its way, and artwork that is thrown away is no longer shown', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const upload = {
    upload_url: `${url}/stored`,
    content_type: 'image/png',
    file_url: 'https://media.example/f/new.png',
  };
  await context.route('**/api/v1/uploads', (route) => route.fulfill({ status: 201, json: upload }));
  const arrived = Promise.withResolvers<void>();
  await context.route('**/stored', async (route) => {
    await arrived.promise;
    await route.fulfill({ status: 200, headers: { ETag: '"1"' } });
  });
  const saves: string[] = [];
  context.on('request', (one) => one.method() === 'PUT' && one.url().includes('/api/') && saves.push(one.url()));
  const typed = await open(context, '/episodes/ep_14/details');
  await typed.page.getByLabel('Title').fill('Typed before');
  await typed.page.getByText('Not saved yet').waitFor();
  await typed.page.close();
  const { page } = await open(context, '/episodes/ep_14/details');
  await page.getByText('Unsaved text of your last visit is back.').waitFor();
  const buffer = Buffer.from((await drawPicture(page)).split(',')[1]!, 'base64');
  await page.getByLabel('Artwork').setInputFiles({ name: 'new.png', mimeType: 'image/png', buffer });
  await page.getByText('Wait until the picture has been sent').waitFor();
  await page.getByLabel('Title').press('Enter');
  arrived.resolve();
  await page.getByText('Uploaded. It counts once you save.').waitFor();
  expect([saves, await page.locator('canvas').count()]).toEqual([[], 1]);
  await page.getByRole('button', { name: 'Throw it away' }).click();
  await page.getByText('Everything is saved').waitFor();
  expect(await page.locator('canvas').count()).toBe(0);
});

test('a line item is narrowed by rules, its hours of the week by keyboard, and how many plays that leaves is asked beside it', async () => {
  await using context = await browser.newContext({ locale: 'en-GB' });
  const { page, findings } = await open(context, '/w/ws_1/line_items/new');
  await page.getByText('Every play of every podcast fits').waitFor();
  await page.getByLabel('Narrow by').selectOption({ label: 'Hours of the week' });
  await page.getByRole('button', { name: 'Fri, all day' }).click();
  await page.getByRole('gridcell', { name: 'Monday 9:00' }).click();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await page.getByText('26 of 168 hours').waitFor();
  await page.getByLabel('Quantity').fill('500000');
  const asked = page.waitForRequest((request) => request.url().endsWith('/commands/forecast.request'));
  await page.getByRole('button', { name: 'Ask how many' }).click();
  expect((await asked).postDataJSON()).toMatchObject({
    changes: {
      kind: 'availability',
      prospective: { quantity: 500_000, targeting: { dayparts: { hours: expect.arrayContaining([9, 10, 96]) } } },
    },
  });
  await page.getByText('Fits, at the cost of others').waitFor();
  await page.getByText('589,300').waitFor();
  await page.getByLabel('Quantity').fill('600000');
  await page.getByText('The form says something else by now.').waitFor();
  await page.getByRole('button', { name: 'Remove: Hours of the week' }).click();
  await page.getByText('Every play of every podcast fits').waitFor();
  expect(findings).toEqual([]);
});
