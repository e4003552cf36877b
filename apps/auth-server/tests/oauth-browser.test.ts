import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findBrowser } from '@longwave/test-kit';
import type { AxeResults } from 'axe-core';
import { type Browser, chromium } from 'playwright-core';
import { connector, mcpResource, pkce, startOauth, type OauthUnderTest } from './_oauth.ts';
import { baseUrl } from './_support.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const stack = new AsyncDisposableStack();
let oauth: OauthUnderTest;
let browser: Browser;
/** The callback of a program on this machine, and the answers that it got. */
let callback: string;
const answers: URLSearchParams[] = [];

beforeAll(async () => {
  oauth = stack.use(await startOauth());
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', callback);
    const read = request.method === 'POST' ? text(request) : Promise.resolve(String(searchParams));
    void read.then((answer) => {
      if (pathname === '/callback') answers.push(new URLSearchParams(answer));
      response.end('done');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stack.defer(() => void server.close());
  callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const rules = `--host-resolver-rules=MAP localhost:4000 127.0.0.1:${oauth.server.app.port}`;
  browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu', rules] });
  stack.defer(() => browser.close());
}, 120_000);
afterAll(() => stack.disposeAsync());

/** Where a client sends a person. */
const addressOf = (clientId: string, more: object = {}) =>
  baseUrl +
  oauth.authorizeUrl({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: callback, resource: mcpResource },
    ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256', ...more },
  });

test('in Chromium the policy of the consent page lets the answer reach a program on this machine, in each of its forms', async () => {
  const client = await oauth.register(connector({ redirect_uris: [callback] }));
  const ada = await oauth.signedIn('Ada');
  const context = await browser.newContext();
  await context.addCookies([{ name: 'lw_session', value: ada.text, url: baseUrl }]);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  for (const [name, more] of [
    ['Allow', {}],
    ['Allow', { response_mode: 'form_post' }],
    ['Refuse', {}],
  ] as const) {
    await page.goto(addressOf(client.client_id, more));
    await page.getByRole('button', { name }).click();
    await page.waitForURL(`${callback}**`, { timeout: 60_000 });
  }
  expect(answers.map((answer) => [answer.has('code'), answer.get('error'), answer.get('iss')])).toEqual([
    [true, null, baseUrl],
    [true, null, baseUrl],
    [false, 'access_denied', baseUrl],
  ]);
  expect(errors.filter((error) => !error.includes('favicon'))).toEqual([]);
});

test.each(['light', 'dark'] as const)('the page of consent has no finding of axe in %s', async (colorScheme) => {
  const [ada, ben] = [await oauth.signedIn('Ada'), await oauth.signedIn('Ben')];
  await oauth.server.send(ben.workspaceId, 'membership.add', {
    ...{ owner_account_id: ben.accountId, member_account_id: ada.accountId, permissions: [] },
  });
  const client = await oauth.register(connector({ redirect_uris: [callback] }));
  const context = await browser.newContext({ bypassCSP: true, colorScheme, viewport: { width: 360, height: 740 } });
  await context.addCookies([{ name: 'lw_session', value: ada.text, url: baseUrl }]);
  const page = await context.newPage();
  await page.goto(addressOf(client.client_id));
  expect(await page.getByRole('radio').count()).toBe(2);
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
});
