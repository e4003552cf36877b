import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isConsolePath, reservedPrefixes, routesOf, services } from '@longwave/services';
import { frontPage } from '../src/docs/front-page.ts';
import { routes } from '../src/routes.ts';
import { startGateway, type GatewayUnderTest } from './_support.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'console-'));
const page = '<!doctype html><title>Longwave</title><script type="module" src="/assets/main-1a2b.js"></script>';
const script = `console.log(${JSON.stringify('waves '.repeat(100))})`;

const write = (name: string, content: string | Buffer) => writeFileSync(path.join(folder, name), content);

let gateway: GatewayUnderTest;
beforeAll(async () => {
  mkdirSync(path.join(folder, 'assets/fonts'), { recursive: true });
  write('index.html', page);
  write('secret.txt', 'not an asset');
  write('assets/main-1a2b.js', script);
  write('assets/main-1a2b.js.br', brotliCompressSync(script));
  write('assets/main-1a2b.js.gz', gzipSync(script));
  write('assets/fonts/inter-3c4d.woff2', 'font');
  gateway = await startGateway({ consoleFolder: folder });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends the path as it is, and nothing is decompressed. */
const send = (at: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<Answer>((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url);
    const sent = request({ hostname, port, path: at, headers, method }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.once('error', reject).end();
  });

const navigation = { 'sec-fetch-dest': 'document', accept: 'text/html,*/*;q=0.8' };
const isPage = ({ status, body }: Answer) => status === 200 && body.toString() === page;

describe('the page of the console', () => {
  test.each(['/', '/podcasts', '/podcasts/pod_1/episodes?state=draft', '/apiary', '/settingsx', '/a/b.c/d'])(
    'is the answer to whoever opens %s',
    async (at) => {
      expect(isPage(await send(at, navigation))).toBe(true);
      expect(isPage(await send(at, { accept: 'text/html' }))).toBe(true);
    },
  );

  test('comes with the headers of a page that runs its own scripts alone, and is asked for anew each time', async () => {
    const { headers } = await send('/podcasts', navigation);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      vary: 'Accept, Sec-Fetch-Dest',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
        "img-src 'self' http://media.test http://objects.test; media-src 'self' http://media.test http://objects.test; " +
        "connect-src 'self' http://media.test http://objects.test; frame-src http://media.test; manifest-src 'self'; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'permissions-policy': expect.stringMatching(/^autoplay=\(self\)(, [a-z-]+=\(\))+$/),
    });
    const again = await send('/episodes', { ...navigation, 'if-none-match': headers['etag'] as string });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  test('follows a new build at once', async () => {
    const { headers } = await send('/', navigation);
    write('index.html', page.replace('1a2b', '5e6f'));
    const { status, body } = await send('/', { ...navigation, 'if-none-match': headers['etag'] as string });
    expect([status, body.toString()]).toEqual([200, page.replace('1a2b', '5e6f')]);
    write('index.html', page);
  });

  test('has a HEAD without a body', async () => {
    const { status, headers, body } = await send('/podcasts', navigation, 'HEAD');
    expect([status, headers['content-length'], body.length]).toEqual([200, String(page.length), 0]);
  });

  test.each([
    ['a script', 'GET', { 'sec-fetch-dest': 'script', accept: 'text/html' }],
    ['a frame of another page', 'GET', { 'sec-fetch-dest': 'iframe', accept: 'text/html' }],
    ['a program', 'GET', { accept: '*/*' }],
    ['a form', 'POST', navigation],
  ])('is not for %s: what is unknown stays 404', async (_who, method, headers) => {
    const { status, body } = await send('/podcasts', headers, method);
    expect([status, JSON.parse(body.toString())]).toEqual([404, { code: 404, message: 'There is no such page.' }]);
  });

  test('leaves the page of links at / to programs', async () => {
    const { status, body } = await send('/', { accept: '*/*' });
    expect([status, body.includes('href="/api-docs"')]).toEqual([200, true]);
  });
});

describe('reserved prefixes', () => {
  test.each(reservedPrefixes)('%s and what is below it are never the page', async (prefix) => {
    for (const at of [prefix, `${prefix}/`, `${prefix}/nothing`]) {
      expect(isConsolePath(at)).toBe(false);
      expect(isPage(await send(at, navigation))).toBe(false);
    }
  });

  test('hold every path that this gateway and the other services of the host answer', () => {
    const own = [
      '/api-docs',
      '/.well-known/oauth-protected-resource',
      ...routes.map((route) => `/api/v1${route.path}`),
    ];
    const ofServices = routesOf(services, 'base').map(({ prefix }) => prefix);
    const links = frontPage.links.map(({ href }) => href);
    expect(ofServices.length).toBeGreaterThan(5);
    expect([...own, ...ofServices.filter(Boolean), ...links].filter(isConsolePath)).toEqual([]);
  });

  test('keep each link of the page of links where it was', async () => {
    for (const { href } of frontPage.links.slice(3)) {
      const { status, headers } = await send(href, navigation);
      expect([href, status, headers['cross-origin-opener-policy']]).toEqual([
        href,
        href === '/api/v1/podcasts' ? 401 : 200,
        undefined,
      ]);
    }
  });
});

describe('an asset', () => {
  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['identity', undefined, (body: Buffer) => body],
  ])('comes for ever, and for “%s” as %s', async (accepted, encoding, unpack) => {
    const { status, headers, body } = await send('/assets/main-1a2b.js', { 'accept-encoding': accepted });
    expect([status, unpack(body).toString()]).toEqual([200, script]);
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      'content-length': String(body.length),
    });
  });

  test('that was built in one form only comes in it', async () => {
    const { headers, body } = await send('/assets/fonts/inter-3c4d.woff2', { 'accept-encoding': 'br, gzip' });
    expect([headers['content-type'], headers['content-encoding'], body.toString()]).toEqual([
      'font/woff2',
      undefined,
      'font',
    ]);
  });

  test.each([
    '/assets',
    '/assets/',
    '/assets/fonts',
    '/assets/gone-0000.js',
    '/assets/../index.html',
    '/assets/..%2fsecret.txt',
    '/assets/fonts/../../secret.txt',
    '/assets/.hidden',
    '/assets/%',
    '/assets/main-1a2b.js/x',
  ])('%s is none, and 404 for everybody', async (at) => {
    for (const headers of [navigation, {}]) {
      const { status, headers: sent } = await send(at, headers);
      expect([status, sent['cache-control']]).toEqual([404, 'no-store']);
    }
  });
});
