import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { registerConnector, signUp, type Person } from '@longwave/test-kit/clients';
import type { BrowserContext, Page } from 'playwright-core';
import { grantAccess } from '../_agent-access.ts';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { heading, lookAt, newPodcaster, type Podcaster } from '../_console.ts';
import { publishedPodcast } from '../_hosting-world.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';
import { newestLogs, placesOf } from '../_stored-texts.ts';

const stack = new AsyncDisposableStack();
let world: SharedInstallation;
let browser: TestBrowser;
let ada: Podcaster;
/** Sees the numbers of Ada's account. */
let ben: Person;
let workspace: string;
let podcastId: string;
beforeAll(async () => {
  world = stack.use(await openSharedInstallation());
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
  await world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan: 'network' });
  // Before Ada replaces the key of this program.
  podcastId = await publishedPodcast(ada.rest, 'Harbour Light');
  ({ workspace_id: workspace } = await world.operator.account(ada.accountId));
  ben = await signUp(world, 'Ben Rope');
  const ids = { owner_account_id: ada.accountId, member_account_id: ben.accountId };
  const member = { ...ids, permissions: ['view_analytics'] };
  await world.operator.identityCommand(workspace, 'membership.add', { type: 'memberships' }, member);
  await ben.browser.post('/sign-in/account', { account: ada.accountId }, {}, '/sign-in/account');
}, 120_000);
afterEach(() => expect(browser.takeFindings()).toEqual([]));
afterAll(() => stack.disposeAsync());

/** The status of a request of REST API v1 with a credential. */
const askRest = async (credential: string) =>
  (await fetch(`${world.fleet.urls.base}/api/v1/podcasts`, { headers: { token: credential } })).status;

/** The status of a request to the MCP server with a credential. */
async function askMcp(credential: string): Promise<number> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const params = { name: 'get_account', arguments: {} };
  const { status } = await fetch(`${world.fleet.urls.mcp}/mcp`, {
    ...{ method: 'POST', headers: { ...headers, authorization: `Bearer ${credential}` } },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  return status;
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Ends what a line or card is about: the button is shown once one has read what it does. */
async function end(page: Page, label: string, about: string): Promise<void> {
  await page.getByText(`${label}: ${about}`).first().click();
  await page
    .getByRole('button', { name: `${label} now` })
    .filter({ hasText: about })
    .click();
}

/** What was made just now, of a page that shows it. */
async function newSecret(page: Page, noun: string): Promise<string> {
  const made = page.getByRole('status').filter({ hasText: `Your new ${noun}` });
  return (await made.getByRole('code').textContent())!;
}

/** Everything that a browser has kept. */
async function keptBy(context: BrowserContext): Promise<string> {
  return JSON.stringify([
    await context.storageState({ indexedDB: true }),
    ...(await Promise.all(context.pages().map((page) => page.evaluate('JSON.stringify(sessionStorage)')))),
  ]);
}

test('23, key, tokens and a connector: each is shown once, works and then not; none is in a page, an address, storage or a log', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page, context } = tab;
  const asked: string[] = [];
  context.on('request', (request) => asked.push(request.url(), JSON.stringify(request.headers())));
  await tab.visit('/settings/api');
  await lookAt(page, 'settings-api');

  await press(page, 'Replace the API key');
  const first = await newSecret(page, 'API key');
  expect(await askRest(first)).toBe(200);
  await page.getByLabel('at once').check();
  await press(page, 'Replace the API key');
  const key = await newSecret(page, 'API key');
  expect([await askRest(first), await askRest(key)]).toEqual([401, 200]);

  await page.getByRole('textbox', { name: 'Name of the token' }).fill('Old program');
  await press(page, 'Create a token');
  const legacy = await newSecret(page, 'REST API token');
  expect(await askRest(legacy)).toBe(200);
  await end(page, 'Revoke', 'Old program');
  await page.getByText('“Old program” works no more.').first().waitFor();
  expect(await askRest(legacy)).toBe(401);

  await page.getByRole('textbox', { name: 'Name of the agent' }).fill('Studio');
  await press(page, 'Create an agent token');
  const agent = await newSecret(page, 'agent token');
  expect(await askMcp(agent)).toBe(200);
  await end(page, 'Revoke', 'Studio');
  await page.getByText('“Studio” works no more.').first().waitFor();
  expect(await askMcp(agent)).toBe(401);

  const { tokens } = await grantAccess(world, ada, await registerConnector(world));
  expect(await askMcp(tokens.access_token)).toBe(200);
  await page.getByRole('link', { name: 'Connectors' }).click();
  await heading(page, 'Connectors').waitFor();
  const connector = (await page.getByRole('heading', { level: 2 }).first().textContent())!;
  await end(page, 'End access', connector);
  await page.getByText('No program has access.').first().waitFor();
  expect(await askMcp(tokens.access_token)).toBe(401);

  const secrets = [first, key, legacy, agent, tokens.access_token, tokens.refresh_token!];
  const shown = [await page.content()];
  for (const address of ['/settings/api', '/settings/security', '/']) {
    await tab.visit(address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    shown.push(await page.content());
  }
  const texts = [...shown, ...asked, await keptBy(context)].join('\n');
  expect(secrets.filter((secret) => texts.includes(secret))).toEqual([]);
  const logs = await newestLogs(world.fleet);
  expect(secrets.flatMap((secret) => placesOf(secret, logs))).toEqual([]);
});

/** What of an element one sees that the two ways to render share. */
const looksOf = (page: Page, selector: string) =>
  page.evaluate<Readonly<Record<string, string>>>(`(() => {
    const style = getComputedStyle(document.querySelector(${JSON.stringify(selector)}));
    return Object.fromEntries([
      'fontFamily', 'fontSize', 'fontWeight', 'color', 'backgroundColor', 'borderTopColor', 'borderTopWidth',
      'borderTopLeftRadius', 'boxShadow', 'minHeight',
    ].map((name) => [name, style[name].replace('auto', '0px')]));
  })()`);

test('the pages of the account look as the console does: button, field, card, heading and text, in light and dark', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  const parts = {
    button: 'button[class*="primary"]',
    field: 'main input:is([type="text"], [class*="control"]):not([class*="voice"])',
    body: 'body',
    title: 'h1',
  };
  const card = 'main section, main [class*="card"]';
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const looks = async (address: string, title: string) => {
      await tab.visit(address);
      await heading(page, title).waitFor();
      const found = Object.entries({ ...parts, card }).map(
        async ([name, selector]) => [name, await looksOf(page, selector)] as const,
      );
      return Object.fromEntries(await Promise.all(found));
    };
    const settings = await looks('/settings', 'Profile');
    expect(settings).toEqual(await looks('/podcasts/new', 'New podcast'));
    await tab.visit('/settings');
    expect(await page.evaluate(`document.fonts.load('14px Inter').then((faces) => faces.length)`)).toBeGreaterThan(0);
  }
});

const json = { 'content-type': 'application/json' };
/** Makes an advertiser by the session of somebody, with the headers of a page of ours unless others are given. */
const makeAdvertiser = ({ browser: own }: Person, headers: Readonly<Record<string, string>> = {}) =>
  own.fetch(`/management/v1/workspaces/${workspace}/commands/advertiser.create`, {
    method: 'POST',
    headers: { ...json, 'idempotency-key': crypto.randomUUID(), ...headers },
    body: JSON.stringify({
      subject: { type: 'advertisers', id: null },
      changes: { legal_name: 'Tidewater Tea Ltd', brands: [], ad_product_categories: [] },
    }),
  });

test('24, an analyst has no button that changes anything, and a forged command is 403', async () => {
  const made = await makeAdvertiser(ada);
  if (made.status !== 200) throw new Error(made.body);
  const { subject } = JSON.parse(made.body) as { subject: { id: string } };
  await using tab = await browser.open({ session: ben.browser });
  const { page } = tab;
  const writes = [
    ...['New podcast', 'Move a show in', 'New episode', 'Settings', 'Edit'],
    ...['Activate', 'Archive', 'New advertiser', 'New campaign'],
  ];
  for (const [address, title, shows] of [
    ['/podcasts', 'Podcasts', 'Harbour Light'],
    [`/podcasts/${podcastId}`, 'Harbour Light', 'Copy feed link'],
    [`/podcasts/${podcastId}/feed`, 'Harbour Light', 'As directories see it'],
    [`/w/${workspace}/advertisers`, 'Advertisers', 'Tidewater Tea Ltd'],
    [`/w/${workspace}/advertisers/${subject.id}`, 'Tidewater Tea Ltd', 'History'],
  ] as const) {
    await tab.visit(address);
    await heading(page, title).waitFor();
    const main = page.getByRole('main');
    await main.getByText(shows).first().waitFor();
    const offered = writes.map(async (name) => [name, await main.getByText(name, { exact: true }).count()] as const);
    expect((await Promise.all(offered)).filter(([, count]) => count > 0)).toEqual([]);
  }
  const asked = [
    await makeAdvertiser(ben),
    await ben.browser.fetch(`/api/v1/podcasts/${podcastId}`, {
      method: 'PUT',
      headers: json,
      body: '{"author":"Ben"}',
    }),
    await ben.browser.fetch('/api/v1/podcasts', { method: 'POST', headers: json, body: '{"title":"Ben’s"}' }),
    await ben.browser.fetch('/api/v1/account/keys', { headers: json }),
  ];
  expect(asked.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
});

test('a request that a page of elsewhere sends with the session is 403: from another site, as a form, from another port', async () => {
  const { base, media } = world.fleet.urls;
  const elsewhere = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: media },
    { 'sec-fetch-site': undefined, origin: media },
  ] as const;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const headers of elsewhere) {
    const asked = [
      await makeAdvertiser(ada, headers as never),
      await ada.browser.fetch('/api/v1/podcasts', { method: 'POST', headers: { ...json, ...headers }, body: '{}' }),
      await ada.browser.fetch('/api/v1/podcasts', {
        method: 'POST',
        headers: { ...form, ...headers },
        body: 'title=A',
      }),
      await ada.browser.post('/settings/api/key', { once: crypto.randomUUID() }, headers, '/settings/api'),
      await ada.browser.post('/sign-out', {}, headers, '/settings'),
    ];
    expect(asked.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  }

  // As a browser really does it: a page at the port of the media server, which the cookie of the session reaches.
  await using tab = await browser.open({ session: ada.browser, meant: [/^403 POST \/sign-out$/] });
  const { page } = tab;
  await page.route(`${media}/elsewhere`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" action="${base}/sign-out"><button>Win</button></form>`,
    }),
  );
  await page.goto(`${media}/elsewhere`);
  const answered = page.waitForResponse(`${base}/sign-out`);
  await press(page, 'Win');
  expect((await (await answered).request().allHeaders())['cookie']).toContain('lw_session=');
  await heading(page, 'This was refused').waitFor();
  expect((await ada.browser.get('/settings')).status).toBe(200);
});

test('the setup of a workspace says who has to agree, and a policy is made by the fields of its kind', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/w/${workspace}/setup`);
  await heading(page, 'Setup').waitFor();
  await page.getByText('Two other people have to agree.').first().waitFor();
  await lookAt(page, 'setup');
  await page.getByRole('link', { name: 'New policy' }).click();
  await page.getByLabel('Name', { exact: true }).fill('At most three ads');
  await page.getByLabel('Kind', { exact: true }).selectOption({ label: 'Ads in an episode' });
  await page.getByLabel('What', { exact: true }).selectOption({ label: 'Everything' });
  await page.getByLabel('Ads in a play at most', { exact: true }).fill('3');
  await press(page, 'New policy');
  await heading(page, 'At most three ads').waitFor();
  await page.getByRole('main').getByText('Draft', { exact: true }).first().waitFor();
  await tab.visit(`/w/${workspace}/setup`);
  await page.getByRole('link', { name: 'At most three ads' }).waitFor();
});
