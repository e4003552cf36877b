import type { FleetAccess } from '@longwave/fleet';
import { findBrowser, type createBrowser } from '@longwave/test-kit';
import { chromium, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

interface TabOptions extends BrowserContextOptions {
  /** Refusals that the test means, as `402 POST /api/v1/…`. */
  readonly meant?: readonly RegExp[];
  /** A session that began elsewhere, as that of `signUp`. */
  readonly session?: Pick<ReturnType<typeof createBrowser>, 'cookies'>;
}

/** A tab in a browser of its own, which ends with the test. */
interface TestTab extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a path of `{base_url}`. */
  readonly visit: (path: string) => Promise<void>;
}

/** Chromium for the tests of one file, with the pages of an installation. */
export interface TestBrowser extends AsyncDisposable {
  readonly open: (options?: TabOptions) => Promise<TestTab>;
  /**
   * What went wrong in all tabs since it was asked last: errors and warnings of the console, among them reports of the Content Security Policy;
   * refusals that no test means; requests to other hosts.
   */
  readonly takeFindings: () => readonly string[];
}

/** What the console says of an answer, beside the answer itself. */
const isAboutAnswer = (text: string) => text.startsWith('Failed to load resource: the server responded with');

function watch(context: BrowserContext, ours: ReadonlySet<string>, meant: readonly RegExp[], findings: string[]): void {
  context.on('console', (message) => {
    const kind = message.type();
    if ((kind === 'error' || kind === 'warning') && !isAboutAnswer(message.text()))
      findings.push(`${kind} of the console: ${message.text()}`);
  });
  context.on('weberror', (error) => findings.push(`uncaught: ${String(error.error())}`));
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (!ours.has(origin) && protocol !== 'data:' && protocol !== 'blob:')
      findings.push(`request to another host: ${request.url()}`);
  });
  context.on('response', (response) => {
    const { pathname } = new URL(response.url());
    const refusal = `${response.status()} ${response.request().method()} ${pathname}`;
    if (response.status() >= 400 && !meant.some((pattern) => pattern.test(refusal))) findings.push(refusal);
  });
}

/** Starts the browser that `CHROMIUM_PATH` names, or else the one on PATH. It reaches this machine alone. */
export async function openBrowser({ urls, objectStore }: FleetAccess): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? findBrowser(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
  });
  const ours = new Set([...Object.values(urls), objectStore.endpoint].map((url) => new URL(url).origin));
  const findings: string[] = [];

  async function open({ meant = [], session, ...options }: TabOptions = {}): Promise<TestTab> {
    const context = await browser.newContext({
      ...{ locale: 'en-GB', timezoneId: 'Europe/Berlin', colorScheme: 'light', reducedMotion: 'reduce' },
      ...{ viewport: { width: 1280, height: 800 } },
      ...options,
    });
    if (session)
      await context.addCookies([...session.cookies].map(([name, value]) => ({ name, value, url: urls.base })));
    watch(context, ours, meant, findings);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return {
      ...{ page, context },
      visit: async (path) => void (await page.goto(urls.base + path)),
      [Symbol.asyncDispose]: async () => context.close(),
    };
  }

  return {
    open,
    takeFindings: () => findings.splice(0),
    [Symbol.asyncDispose]: async () => browser.close(),
  };
}
