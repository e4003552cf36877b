import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Api, Carrier } from '@longwave/rpc/credential';
import { startPages, type PagesUnderTest } from './_pages.ts';

let pages: PagesUnderTest;
beforeAll(async () => {
  pages = await startPages();
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());

const hours = 3_600_000;

describe('a session', () => {
  test('ends 2 h after its last use, on pages and at the APIs alike', async () => {
    const { browser, text } = await pages.signedIn('Ada');
    const states = async () => [
      (await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case,
      (await browser.get('/settings')).status,
    ];
    const wait = (duration: number) => {
      pages.server.clock.now = new Date(pages.server.clock.now.getTime() + duration * hours);
    };
    for (let use = 0; use < 3; use++) {
      wait(1.9);
      expect(await states()).toEqual(['principal', 200]);
    }
    wait(2);
    expect(await states()).toEqual(['refusal', 303]);
  });

  test('ends 12 h after the password was given, however often it is used', async () => {
    const { text } = await pages.signedIn('Ben');
    const verify = () => pages.server.verify(text, Api.REST, Carrier.COOKIE);
    for (let hour = 1; hour < 12; hour++) {
      pages.server.clock.now = new Date(pages.server.clock.now.getTime() + hours);
      expect((await verify())?.$case).toBe('principal');
    }
    pages.server.clock.now = new Date(pages.server.clock.now.getTime() + hours);
    expect((await verify())?.$case).toBe('refusal');
  });

  test('ends when its user is closed', async () => {
    const { text, workspaceId, userId } = await pages.signedIn('Cid');
    await pages.server.send(workspaceId, 'user.close', {}, { subjectId: userId });
    expect((await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case).toBe('refusal');
  });

  test('ends by a form of our own page: its value is dead at once, and the browser forgets what it kept', async () => {
    const { browser, text } = await pages.signedIn('Dora');
    const answer = await browser.post('/sign-out', {});
    expect([answer.status, answer.headers.get('location'), answer.headers.get('clear-site-data')]).toEqual([
      303,
      '/sign-in',
      '"cache", "storage"',
    ]);
    expect(answer.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^lw_session=; .*Max-Age=0$/));
    expect((await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case).toBe('refusal');
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }, {}],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }, {}],
    ['another origin, in an older browser', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }, {}],
    ['nobody', { 'sec-fetch-site': undefined }, {}],
    ['a page without the token of the form', {}, { form_token: '' }],
    ['a page of another browser', {}, { form_token: 'x'.repeat(43) }],
  ])('is not ended by a form from %s', async (_who, headers, fields) => {
    const { browser, text } = await pages.signedIn('Eve');
    expect((await browser.post('/sign-out', fields, headers)).status).toBe(403);
    expect((await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case).toBe('principal');
  });

  const signOutOfConsole = {
    method: 'POST',
    body: '',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  };

  test('ends by the form of the console, which knows no token of forms', async () => {
    const { browser, text } = await pages.signedIn('Dan');
    const answer = await browser.fetch('/sign-out', signOutOfConsole);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in']);
    expect((await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case).toBe('refusal');
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['another origin, in an older browser', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    ['nobody', { 'sec-fetch-site': undefined }],
  ])('is not ended by such a form from %s', async (_who, from) => {
    const { browser, text } = await pages.signedIn('Eli');
    const headers = { ...signOutOfConsole.headers, ...from };
    expect((await browser.fetch('/sign-out', { ...signOutOfConsole, headers })).status).toBe(403);
    expect((await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case).toBe('principal');
  });

  test('no other form is taken without its token', async () => {
    const { browser } = await pages.signedIn('Flo');
    expect((await browser.fetch('/sign-in/account', signOutOfConsole)).status).toBe(403);
  });

  test('is not ended by a link', async () => {
    const { browser, text } = await pages.signedIn('Fay');
    const answer = await browser.get('/sign-out');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings']);
    expect((await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case).toBe('principal');
  });
});

describe('a form', () => {
  test('a page is come back to after signing in, one with a very long address without its query', async () => {
    const locationOf = async (path: string) => (await pages.browser('198.51.100.77').get(path)).headers.get('location');
    expect(await locationOf('/settings?a=b')).toBe('/sign-in?return_to=%2Fsettings%3Fa%3Db');
    expect(await locationOf(`/settings?${'a'.repeat(10_000)}`)).toBe('/sign-in?return_to=%2Fsettings');
  });

  test('in another content type, too large or twice the same field is a 4xx', async () => {
    const { browser } = await pages.signedIn('Gus');
    const sent = (body: string, type: string) =>
      browser.fetch('/sign-out', { method: 'POST', body, headers: { 'content-type': type } });
    expect((await sent('{}', 'application/json')).status).toBe(415);
    expect((await sent(`a=${'x'.repeat(70_000)}`, 'application/x-www-form-urlencoded')).status).toBe(413);
    const manyFields = Array.from({ length: 1_001 }, (_, nth) => nth).join('&');
    expect((await sent(manyFields, 'application/x-www-form-urlencoded')).status).toBe(413);
    expect((await sent('form_token=a&form_token=b', 'application/x-www-form-urlencoded')).status).toBe(403);
  });
});

test('every page has strict headers: no script, no frame, no copy kept', async () => {
  const answer = await pages.browser().get('/settings/unknown');
  expect(answer.status).toBe(404);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
});

test('the style sheet is named by its content and may be kept for ever', async () => {
  const { body } = await pages.browser().get('/settings/unknown');
  const [, href] = /<link rel="stylesheet" href="([^"]+)"/.exec(body)!;
  const css = await fetch(`${pages.url}${href}`);
  expect([css.status, css.headers.get('content-type'), css.headers.get('cache-control')]).toEqual([
    200,
    'text/css; charset=utf-8',
    'public, max-age=31536000, immutable',
  ]);
  expect(await css.text()).toContain('--tide: light-dark(#0a6355, #5ccbb3);');
});
