import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listenHttp } from '@longwave/http-kit';
import { createLogger } from '@longwave/service-kit';
import { createRouter } from './route.ts';
import { sendFile, type SentFile } from './send-file.ts';

const sources: Readonly<Record<string, SentFile['open']>> = {
  whole: async () =>
    (async function* () {
      yield Buffer.from('ab');
      yield Buffer.from('cd');
    })(),
  silent: async () =>
    // eslint-disable-next-line require-yield
    (async function* (): AsyncGenerator<Buffer> {
      throw new Error('the store is away');
    })(),
  closed: () => Promise.reject(new Error('the store is away')),
  broken: async () =>
    (async function* () {
      yield Buffer.from('ab');
      throw new Error('the store went away');
    })(),
};

let http: Awaited<ReturnType<typeof listenHttp>>;

beforeAll(async () => {
  const routeOf = (name: string) => ({
    name,
    path: `/${name}`,
    get: (exchange: Parameters<typeof sendFile>[0]) =>
      sendFile(exchange, { etag: '"4"', modifiedAt: undefined, sizeBytes: 4, headers: {}, open: sources[name]! }),
  });
  const router = createRouter(Object.keys(sources).map(routeOf), createLogger('test', 'silent'), () => new Date());
  http = await listenHttp('127.0.0.1:0', router);
});

afterAll(() => http.close());

const get = (name: string) => fetch(`http://127.0.0.1:${http.port}/${name}`);

test('a file comes whole', async () => {
  expect(await (await get('whole')).text()).toBe('abcd');
});

test.each(['silent', 'closed'])('a source that gives nothing (%s) is 503, to be tried again', async (name) => {
  const answer = await get(name);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(answer.headers.get('etag')).toBeNull();
});

test('a source that ends early breaks the connection', async () => {
  await expect(get('broken').then((answer) => answer.text())).rejects.toThrow();
});
