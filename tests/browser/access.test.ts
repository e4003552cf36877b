import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { registerConnector } from '@longwave/test-kit/clients';
import type { BrowserContext, Page } from 'playwright-core';
import { grantAccess } from '../_agent-access.ts';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { heading, lookAt, newPodcaster, type Podcaster } from '../_console.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';
import { newestLogs, placesOf } from '../_stored-texts.ts';

const stack = new AsyncDisposableStack();
let world: SharedInstallation;
let browser: TestBrowser;
let ada: Podcaster;
beforeAll(async () => {
  world = stack.use(await openSharedInstallation());
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
  await world.operator.changeIdentity(ada.accountId, 'account.set_plan', { plan: 'network' });
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
  await page.getByText('“Old program” works no more.').waitFor();
  expect(await askRest(legacy)).toBe(401);

  await page.getByRole('textbox', { name: 'Name of the agent' }).fill('Studio');
  await press(page, 'Create an agent token');
  const agent = await newSecret(page, 'agent token');
  expect(await askMcp(agent)).toBe(200);
  await end(page, 'Revoke', 'Studio');
  await page.getByText('“Studio” works no more.').waitFor();
  expect(await askMcp(agent)).toBe(401);

  const { tokens } = await grantAccess(world, ada, await registerConnector(world));
  expect(await askMcp(tokens.access_token)).toBe(200);
  await page.getByRole('link', { name: 'Connectors' }).click();
  await heading(page, 'Connectors').waitFor();
  const connector = (await page.getByRole('heading', { level: 2 }).first().textContent())!;
  await end(page, 'End access', connector);
  await page.getByText('No program has access.').waitFor();
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
