import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const send = (headers: Record<string, string>, init: RequestInit = {}, path = '/api/v1/account') =>
  fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { cookie: 'lw_session=session', 'sec-fetch-site': 'same-origin', ...headers },
  });

describe('a request with the cookie of a session', () => {
  test('from our own page is answered, and not counted', async () => {
    const answer = await send({});
    expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([200, null]);
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { 'sec-fetch-site': 'same-site' }],
    ['an address bar', { 'sec-fetch-site': 'none' }],
    ['another origin, in an older browser', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
  ])('from %s is 403, whatever it asks for', async (_who, headers) => {
    for (const [method, path] of [
      ['GET', '/api/v1/account'],
      ['POST', '/api/v1/podcasts'],
      ['GET', '/api/v1/nothing'],
    ]) {
      const answer = await send(headers, { method: method! }, path);
      expect([answer.status, await answer.json()]).toEqual([
        403,
        { code: 403, message: 'A session is accepted from the pages of this application only.' },
      ]);
    }
  });

  test('and a key in a header is a request with that key', async () => {
    expect((await send({ token: 'nobody' })).status).toBe(401);
    const answer = await send({ token: 'owner', 'sec-fetch-site': 'cross-site' });
    expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([200, '300']);
  });

  test('that is a key is 401: no key is a cookie', async () => {
    expect((await send({ cookie: 'lw_session=owner' })).status).toBe(401);
  });

  test('has JSON as its body, no form', async () => {
    const post = (type: string, body: string) =>
      send({ 'content-type': type }, { method: 'POST', body }, '/api/v1/podcasts');
    expect((await post('application/x-www-form-urlencoded', 'title=A')).status).toBe(415);
    expect((await post('application/json', '{}')).status).not.toBe(415);
  });
});
