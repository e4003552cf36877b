import { expect, test } from '@jest/globals';
import { listenHttp } from '@longwave/http-kit';
import { createLogger } from '@longwave/service-kit';
import { createRouter } from '../http/route.ts';
import { comeAgain } from './shared-work.ts';
import { siteRoutes } from './site-routes.ts';

test('a client that leaves gives its page up', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const findPage = (_subdomain: string, _name: unknown, leaving: AbortSignal) => {
    asked.resolve(leaving);
    return new Promise<never>((_, reject) => leaving.addEventListener('abort', () => reject(leaving.reason)));
  };
  const routes = siteRoutes({ findPage, baseUrl: 'http://base.test' });
  const router = createRouter(routes, createLogger('test', 'silent'), () => new Date());
  const http = await listenHttp('127.0.0.1:0', router);
  const client = new AbortController();
  const answer = fetch(`http://127.0.0.1:${http.port}/site/tides`, { signal: client.signal });
  const leaving = await asked.promise;
  const left = new Promise((resolve) => leaving.addEventListener('abort', resolve));
  client.abort();
  await expect(answer).rejects.toThrow();
  await left;
  await http.close();
  // A refusal, which no line of the log calls an error.
  expect(leaving.reason).toEqual(comeAgain());
});
