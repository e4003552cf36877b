import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { findBrowser } from '@longwave/test-kit';
import type { AxeResults } from 'axe-core';
import { Secret, TOTP } from 'otpauth';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { createApps, secondFactorPath } from './_codes.ts';
import { startPages, type PagesUnderTest } from './_pages.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where screenshots of the pages go, for people to look at; nowhere without the variable. */
const screenshots = process.env['SCREENSHOT_FOLDER'];

const stack = new AsyncDisposableStack();
let pages: PagesUnderTest;
let browser: Browser;
beforeAll(async () => {
  pages = stack.use(await startPages());
  browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] });
  stack.defer(() => browser.close());
}, 120_000);
afterAll(() => stack.disposeAsync());

/** A page, and everything that went wrong in it. */
async function openPage(context: BrowserContext): Promise<{ page: Page; findings: string[] }> {
  const page = await context.newPage();
  const findings: string[] = [];
  page.on('console', (message) => message.type() === 'error' && findings.push(message.text()));
  page.on('pageerror', (error) => findings.push(error.message));
  page.on(
    'request',
    (one) => one.url().startsWith(pages.url) || one.url().startsWith('data:') || findings.push(one.url()),
  );
  return { page, findings };
}

/** In the page: the name of what has the focus, and the width of its outline. */
const focused = `(() => {
  const element = document.activeElement;
  const label = element.labels?.[0]?.textContent ?? element.textContent;
  return [label.replace(/\\s+/g, ' ').trim(), getComputedStyle(element).outlineWidth];
})()`;
/** In the page: how far it scrolls sideways, and how many headings of the first order it has. */
const measured = `[
  document.documentElement.scrollWidth - document.documentElement.clientWidth,
  document.querySelectorAll('h1').length,
]`;

/** Presses Tab until the element that has the focus is called so, and answers whether its focus can be seen. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let press = 0; press < 80; press++) {
    await page.keyboard.press('Tab');
    const [found, outline] = await page.evaluate<readonly [string, string]>(focused);
    if (found !== name) continue;
    expect([name, outline]).toEqual([name, '2px']);
    return;
  }
  throw new Error(`no Tab leads to “${name}” on ${page.url()}`);
}

async function fill(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.type(text);
}

/** Waits for the heading of a page; tells what the page says instead if it does not come. */
async function meet(page: Page, name: string): Promise<void> {
  const heading = page.getByRole('heading', { name });
  await heading.waitFor({ timeout: 60_000 }).catch(async () => {
    throw new Error(`${page.url()} has no heading “${name}”, but: ${await page.locator('body').innerText()}`);
  });
}

async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}

test('a person signs up, makes a key and signs out with the keyboard alone, and nothing breaks the policy', async () => {
  const { page, findings } = await openPage(await browser.newContext());
  const email = `${newId('usr')}@example.com`;
  await page.goto(`${pages.url}/sign-up?return_to=/settings`);
  await fill(page, 'Name', 'Ada Quay');
  await fill(page, 'E-mail', email);
  await press(page, 'Send the mail');
  const { link } = await pages.mailTo(email);
  await page.goto(pages.url + link);
  await fill(page, 'New password', 'a long password');
  await press(page, 'Finish');
  await meet(page, 'Profile');
  await press(page, 'API');
  await press(page, 'Create an API key');
  await meet(page, 'Your new API key');
  expect(await page.locator('.secret').textContent()).toMatch(/^lw_key_/);
  await press(page, 'Sign out');
  await meet(page, 'Sign in');
  expect(findings).toEqual([]);
});

/** A browser in which these cookies are set already. */
async function contextWith(cookies: ReadonlyMap<string, string>, options = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: pages.url })));
  return context;
}

/** The findings of axe on a page as it is. */
async function findingsOf(page: Page): Promise<readonly unknown[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
}

test('a person switches codes on and signs in with one, with the keyboard alone, and nothing breaks the policy', async () => {
  const { email, password, browser: own } = await pages.signedUp('Cora');
  const { page, findings } = await openPage(await contextWith(own.cookies));
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${pages.url}/settings/security`);
  await press(page, 'Switch on codes');
  const secret = Secret.fromBase32((await page.locator('.secret').textContent())!.replaceAll(' ', ''));
  const codeNow = () => TOTP.generate({ secret, timestamp: pages.server.clock.now.getTime() });
  await fill(page, 'Code', codeNow());
  await press(page, 'Switch on');
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findingsOf(page)).toEqual([]);
  }
  expect(await page.evaluate(measured)).toEqual([0, 1]);
  await press(page, 'I have kept them');
  await press(page, 'Sign out');
  await page.goto(`${pages.url}/sign-in?return_to=/settings`);
  await fill(page, 'E-mail', email);
  await fill(page, 'Password', password);
  await press(page, 'Sign in');
  pages.server.clock.now = new Date(pages.server.clock.now.getTime() + 30_000);
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  await fill(page, 'Code', codeNow());
  await press(page, 'Go on');
  await page.getByRole('heading', { name: 'Profile' }).waitFor();
  expect(findings).toEqual([]);
});

interface ShownPages {
  readonly context: BrowserContext;
  readonly visits: readonly [name: string, path: string][];
}

/** Every page that a person can meet, with somebody who is signed in where that is needed. */
async function allPages(): Promise<readonly ShownPages[]> {
  const [owner, guest] = [await pages.signedIn('Quay Media'), await pages.signedUp('Ben')];
  const invite = (email: string) =>
    owner.browser.post('/settings/members/invite', { email, permissions: ['edit'] }, {}, '/settings/members');
  await invite('somebody@example.com');
  await pages
    .signedIn('Other')
    .then((other) =>
      other.browser.post(
        '/settings/members/invite',
        { email: guest.email, permissions: ['edit'] },
        {},
        '/settings/members',
      ),
    );
  for (const what of ['key', 'token', 'agent']) {
    const { body } = await guest.browser.get('/settings/api');
    const once = /name="once" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const fields: Record<string, string> = {
      key: {},
      token: { name: 'Report', scope: 'read' },
      agent: { agent: 'My agent' },
    }[what]!;
    await guest.browser.post(`/settings/api/${what}`, { once, ...fields }, {}, '/settings/api');
  }
  await guest.browser.post('/settings/members/invite', { email: 'new@example.com' }, {}, '/settings/members');
  await pages.browser('198.51.100.30').post('/sign-in/reset', { email: guest.email }, {}, '/sign-in/reset');
  await pages.mailTo(guest.email, 3);
  const { link } = pages.readMails().find(({ to, subject }) => to === guest.email && subject.includes('new password'))!;
  const coded = await pages.signedUp('Dora');
  const apps = createApps(pages);
  await apps.switchOn(coded.browser);
  const waiting = await apps.waiting(coded.email, coded.password);
  const cookies = new Map([...guest.browser.cookies, ['lw_wait', waiting.browser.cookies.get('lw_wait')!] as const]);
  const ofGuest: ShownPages = {
    context: await contextWith(cookies, { bypassCSP: true }),
    visits: [
      ['sign-in', '/sign-in'],
      ['sign-up', '/sign-up'],
      ['reset', '/sign-in/reset'],
      ['choose-password', link],
      ['link-is-over', '/sign-up/finish?token=none'],
      ['password', '/sign-in/password'],
      ['account', '/sign-in/account'],
      ['profile', '/settings'],
      ['connectors', '/settings/connectors'],
      ['api', '/settings/api'],
      ['members', '/settings/members'],
      ['security', '/settings/security'],
      ['switch-on-codes', secondFactorPath],
      ['code', '/sign-in/code'],
      ['unknown', '/settings/unknown'],
    ],
  };
  const ofCoded: ShownPages = {
    context: await contextWith(coded.browser.cookies, { bypassCSP: true }),
    visits: [['change-codes', secondFactorPath]],
  };
  return [ofGuest, ofCoded];
}

describe('every page', () => {
  let shown: Awaited<ReturnType<typeof allPages>>;
  beforeAll(async () => {
    shown = await allPages();
    if (screenshots) mkdirSync(screenshots, { recursive: true });
  });

  test.each(['light', 'dark'] as const)(
    'has no finding of axe in %s',
    async (colorScheme) => {
      for (const { context, visits } of shown) {
        const { page } = await openPage(context);
        await page.emulateMedia({ colorScheme });
        for (const [name, address] of visits) {
          await page.goto(pages.url + address);
          expect([name, await findingsOf(page)]).toEqual([name, []]);
          if (screenshots)
            await page.screenshot({ path: path.join(screenshots, `${name}-${colorScheme}.png`), fullPage: true });
        }
      }
    },
    60_000,
  );

  test('fits 360 px and a desk without scrolling sideways, and has one heading', async () => {
    for (const { context, visits } of shown) {
      const { page } = await openPage(context);
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 740 });
        for (const [name, address] of visits) {
          await page.goto(pages.url + address);
          expect([name, width, await page.evaluate(measured)]).toEqual([name, width, [0, 1]]);
          if (screenshots && width === 360)
            await page.screenshot({ path: path.join(screenshots, `${name}-360.png`), fullPage: true });
        }
      }
    }
  });
});
