import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from '@longwave/test-kit';
import { serveApiDocs, serveFrontPage, serveText } from '../src/index.ts';

const document = {
  openapi: '3.1.1',
  info: { title: 'Test API', version: '1' },
  servers: [{ url: '/api' }],
  security: [{ bearer: [] }],
  tags: [{ name: 'things' }],
  paths: {
    '/things': {
      post: {
        operationId: 'createThing',
        summary: 'Create a thing.',
        tags: ['things'],
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', properties: { color: { enum: ['red', 'green'] } } },
              example: { color: 'green' },
            },
          },
        },
        responses: { 201: { description: 'Created.' } },
      },
    },
    '/older': {
      get: { operationId: 'older', deprecated: true, tags: ['things'], responses: { 200: { description: 'Done.' } } },
    },
  },
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
};

const stack = new AsyncDisposableStack();
let url: string;
let browser: Browser;

beforeAll(async () => {
  const app = express();
  app.use(express.json());
  app.get(
    '/openapi.json',
    serveText(() => JSON.stringify(document), 'application/json; charset=utf-8'),
  );
  app.use(serveApiDocs({ title: 'Test API', path: '/docs', documentPath: '/openapi.json' }));
  app.get(
    '/front',
    serveFrontPage({
      about: 'Boats & <script>lights</script>',
      links: [{ href: '/docs?a="b"&c', name: 'Documentation <1>', about: 'Every <b>operation</b>.' }],
    }),
  );
  app.post('/api/things', (request, response) => {
    response.status(201).json({ made: request.body.color, by: request.get('authorization') });
  });
  const server = app.listen(0, '127.0.0.1');
  stack.defer(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({
    executablePath: findBrowser(),
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
  });
  stack.defer(() => browser.close());
});
afterAll(() => stack.disposeAsync());

/** A page, and everything that it asked of other hosts or that its policy refused. */
async function watchedPage(options: Parameters<Browser['newPage']>[0]): Promise<{ page: Page; findings: string[] }> {
  const page = await browser.newPage(options);
  const findings: string[] = [];
  page.on('request', (one) => one.url().startsWith(url) || one.url().startsWith('data:') || findings.push(one.url()));
  page.on('console', (message) => message.type() === 'error' && findings.push(message.text()));
  page.on('pageerror', (error) => findings.push(error.message));
  return { page, findings };
}

async function openPage(options: Parameters<Browser['newPage']>[0] = {}): Promise<{ page: Page; findings: string[] }> {
  const watched = await watchedPage(options);
  await watched.page.goto(`${url}/docs`);
  await watched.page.getByText('Create a thing.').waitFor();
  return watched;
}

test('an operation that is tried shows its answer and its curl command, with the credential that was entered', async () => {
  const { page, findings } = await openPage();
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.locator('.auth-container input').fill('secret');
  await page.locator('.auth-container button[type=submit]').click();
  await page.locator('.btn-done').click();
  await page.getByText('Create a thing.').click();
  await page.getByRole('button', { name: 'Execute' }).click();
  const answer = page.locator('.live-responses-table .response');
  await answer.waitFor();
  expect(await answer.innerText()).toContain('201');
  expect(await answer.innerText()).toContain('"by": "Bearer secret"');
  expect(await answer.innerText()).toContain('"made": "green"');
  expect(await page.locator('.request-snippets, .curl-command').first().innerText()).toContain('curl');
  expect(findings).toEqual([]);
  await page.close();
});

test('the filter finds operations by id, path and words of a summary, and whole groups by name', async () => {
  const { page, findings } = await openPage();
  const shown = async (phrase: string) => {
    await page.locator('.operation-filter-input').fill(phrase);
    await page.waitForTimeout(400);
    return page.locator('.opblock-summary [data-path]').allInnerTexts();
  };
  expect(await shown('CREATETHING')).toEqual(['/things']);
  expect(await shown('/older')).toEqual(['/older']);
  expect(await shown('create a')).toEqual(['/things']);
  expect(await shown('thing')).toHaveLength(2);
  expect(await shown('nothing of this')).toEqual([]);
  expect(findings).toEqual([]);
  await page.close();
});

test('deprecated operations are marked, groups are named, and night and a phone’s width are respected', async () => {
  const { page, findings } = await openPage({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
  expect(await page.locator('.opblock-deprecated').innerText()).toContain('/older');
  expect(await page.locator('.opblock-tag').innerText()).toContain('things');
  await page.getByText('Create a thing.').click();
  await page.getByRole('button', { name: 'Execute' }).waitFor();
  const look = await page.evaluate<{ background: string; overflow: number }>(`({
    background: getComputedStyle(document.documentElement).backgroundColor,
    overflow: document.documentElement.scrollWidth - innerWidth,
  })`);
  expect(look.background).not.toBe('rgb(255, 255, 255)');
  expect(look.overflow).toBeLessThanOrEqual(0);
  expect(findings).toEqual([]);
  await page.close();
});

test('a front page shows its words as they are, by day and by night and on a phone, and nothing in it runs', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, findings } = await watchedPage({ colorScheme, viewport: { width: 320, height: 740 } });
    const answer = await page.goto(`${url}/front`);
    expect(answer!.headers()['content-security-policy']).toContain("default-src 'none'");
    expect(await page.locator('main').innerText()).toContain('Boats & <script>lights</script>');
    const link = page.getByRole('link', { name: 'Documentation <1>' });
    expect(await link.getAttribute('href')).toBe('/docs?a="b"&c');
    expect(await page.locator('dd').innerText()).toBe('Every <b>operation</b>.');
    const look = await page.evaluate<{ background: string; overflow: number }>(`({
      background: getComputedStyle(document.body).backgroundColor,
      overflow: document.documentElement.scrollWidth - innerWidth,
    })`);
    expect(look.background === 'rgb(255, 255, 255)').toBe(colorScheme === 'light');
    expect(look.overflow).toBeLessThanOrEqual(0);
    expect(findings).toEqual([]);
    await page.close();
  }
});

test('a text is sent compressed to clients that accept it, and not at all to those that have it', async () => {
  const read = (headers: Record<string, string>) =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      request(`${url}/openapi.json`, { headers }, (response) => {
        const answered = buffer(response).then((body) => ({
          ...{ status: response.statusCode!, headers: response.headers, body },
        }));
        answered.then(resolve, reject);
      })
        .once('error', reject)
        .end();
    });
  const packed = await read({ 'accept-encoding': 'gzip' });
  const plain = await read({});
  expect([packed.headers['content-encoding'], plain.headers['content-encoding']]).toEqual(['gzip', undefined]);
  expect(gunzipSync(packed.body)).toEqual(plain.body);
  expect(packed.headers['etag']).not.toBe(plain.headers['etag']);
  const again = await read({ 'if-none-match': String(plain.headers['etag']) });
  expect([again.status, again.body.length]).toEqual([304, 0]);
});
