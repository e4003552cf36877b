import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { listenHttp } from '@longwave/http-kit';
import { createLogger } from '@longwave/service-kit';
import { createRouter } from './route.ts';
import { prepareText, sendText, type PreparedText } from './send-text.ts';

async function serve(text: PreparedText) {
  const route = {
    name: 'text',
    path: '/',
    get: (exchange: Parameters<typeof sendText>[0]) => sendText(exchange, text, {}),
  };
  const router = createRouter([route], createLogger('test', 'silent'), () => new Date());
  const http = await listenHttp('127.0.0.1:0', router);
  const ask = (headers: Record<string, string>, method = 'GET') =>
    fetch(`http://127.0.0.1:${http.port}/`, { method, headers: { 'accept-encoding': 'gzip', ...headers } });
  return { ask, [Symbol.asyncDispose]: () => http.close() };
}

test('a text is compressed once for all that ask for it, and for nobody who has it already or asks for another one', async () => {
  const prepared = prepareText('Größe '.repeat(1_000));
  const coded: string[] = [];
  await using served = await serve({
    ...prepared,
    coded: (coding) => {
      coded.push(coding);
      return prepared.coded(coding);
    },
  });
  const etag = `"${prepared.digest}-gzip"`;
  expect((await served.ask({ 'if-none-match': etag })).status).toBe(304);
  expect((await served.ask({ 'if-match': '"x"' })).status).toBe(412);
  expect(coded).toEqual([]);
  const [head, whole] = [await served.ask({}, 'HEAD'), await served.ask({})];
  expect([head.headers.get('etag'), whole.headers.get('etag')]).toEqual([etag, etag]);
  expect(await whole.text()).toBe('Größe '.repeat(1_000));
  const bytes = await prepared.coded('gzip');
  expect(head.headers.get('content-length')).toBe(String(bytes.length));
  expect(gunzipSync(bytes)).toEqual(prepared.bytes);
  expect(await prepared.coded('gzip')).toBe(bytes);
});
