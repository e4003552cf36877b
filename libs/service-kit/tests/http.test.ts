import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { freePort } from '@longwave/fleet';
import { Problem } from '@longwave/problems';
import { listenHttp, renderProblem, serveHealth, type ReadinessChecks } from '../src/index.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('health', () => {
  async function health(checks: ReadinessChecks) {
    const listen = `127.0.0.1:${await freePort()}`;
    const { close } = await serveHealth(listen, checks);
    cleanups.push(close);
    return async (path: string) => {
      const response = await fetch(`http://${listen}${path}`, { headers: { connection: 'close' } });
      return { status: response.status, body: await response.json() };
    };
  }

  test('a service whose dependencies work is alive and ready', async () => {
    const ask = await health({ postgres: async () => true, redis: async () => true });
    expect(await ask('/healthz')).toEqual({ status: 200, body: { status: 'alive' } });
    expect(await ask('/readyz')).toEqual({ status: 200, body: { status: 'ready', failed: [] } });
  });

  test('a service that cannot work stays alive and names every dependency that fails, hangs or answers false', async () => {
    const ask = await health({
      postgres: async () => {
        throw new Error('password=hunter2');
      },
      redis: async () => true,
      kafka: async () => false,
      objects: () => new Promise(() => undefined),
    });
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    expect(await ask('/readyz')).toEqual({
      status: 503,
      body: { status: 'not ready', failed: ['postgres', 'kafka', 'objects'] },
    });
  });

  test('readiness is asked anew each time', async () => {
    let ready = false;
    const ask = await health({ postgres: async () => ready });
    expect((await ask('/readyz')).status).toBe(503);
    ready = true;
    expect((await ask('/readyz')).status).toBe(200);
  });

  test('nothing else is served on the port', async () => {
    const ask = await health({});
    expect((await ask('/')).status).toBe(404);
  });
});

describe('an HTTP listener', () => {
  const text = async (response: IncomingMessage) => (await response.setEncoding('utf8').toArray()).join('');

  test('says which port is taken, in a sentence', async () => {
    const first = await listenHttp('127.0.0.1:0', (_, response) => response.end());
    cleanups.push(() => first.close());
    await expect(listenHttp(`127.0.0.1:${first.port}`, () => undefined)).rejects.toThrow(
      `127.0.0.1:${first.port} is taken by another program`,
    );
  });

  test('lets a running response finish while it refuses new connections, then closes at once', async () => {
    const finish = Promise.withResolvers<void>();
    const listener = await listenHttp('127.0.0.1:0', (_, response) => {
      response.write('first half, ');
      void finish.promise.then(() => response.end('second half'));
    });
    // The client keeps its connection open afterwards, as browsers and proxies do.
    const agent = new Agent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    const url = `http://127.0.0.1:${listener.port}/`;
    const [running] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
    const began = Date.now();
    const closed = listener.close(10_000);
    const [refusal] = (await once(connect(listener.port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
    expect(refusal.code).toBe('ECONNREFUSED');
    finish.resolve();
    expect(await text(running)).toBe('first half, second half');
    await closed;
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  const unreadable = [
    [400, 'malformed_request', 'GET / HTTP/9.9\r\n\r\n'],
    [400, 'malformed_request', 'nonsense\r\n\r\n'],
    [
      413,
      'payload_too_large',
      `POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2;x=${'y'.repeat(20_000)}\r\nhi\r\n0\r\n\r\n`,
    ],
    [417, 'expectation_failed', 'GET / HTTP/1.1\r\nhost: a\r\nexpect: wonders\r\nconnection: close\r\n\r\n'],
    [431, 'headers_too_large', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
  ] as const;
  const shapes = {
    rest: (status: number) => ({ code: status, message: expect.stringMatching(/\.$/) }),
    problem: (status: number, code: string) => ({
      ...{ type: `urn:longwave:problem:${code.replaceAll('_', '-')}`, status, code },
      ...{ title: expect.any(String), detail: expect.stringMatching(/\.$/), retry: { class: 'after_fix' } },
    }),
  } as const;

  test.each([
    ...unreadable.map((row) => ['rest', 'application/json', ...row] as const),
    ...unreadable.map((row) => ['problem', 'application/problem+json', ...row] as const),
  ])('refuses in the %s shape, as %s, with %i %s what never reaches the service', async (...row) => {
    const [refusals, type, status, code, request] = row;
    const handle = (_: unknown, response: ServerResponse) => void response;
    const listener = await listenHttp('127.0.0.1:0', handle, { refusals });
    cleanups.push(() => listener.close(0));
    const socket = connect(listener.port, '127.0.0.1');
    socket.end(request);
    const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    const [head, body] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain(`\r\ncontent-type: ${type}; charset=utf-8\r\n`);
    expect(JSON.parse(body!)).toEqual(shapes[refusals](status, code));
  });

  test('cuts a response that outlives the drain time', async () => {
    const listener = await listenHttp('127.0.0.1:0', (_, response) => response.write('endless'));
    const [running] = (await once(get(`http://127.0.0.1:${listener.port}/`), 'response')) as [IncomingMessage];
    const cut = text(running);
    cut.catch(() => undefined);
    await listener.close(50);
    await expect(cut).rejects.toThrow('aborted');
  });

  test('is not kept open by connections on which nobody asks anything', async () => {
    const listener = await listenHttp('127.0.0.1:0', (_, response) => response.end('ok'));
    const agent = new Agent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    const [answer] = (await once(get(`http://127.0.0.1:${listener.port}/`, { agent }), 'response')) as [
      IncomingMessage,
    ];
    expect(await text(answer)).toBe('ok');
    const began = Date.now();
    await listener.close(10_000);
    expect(Date.now() - began).toBeLessThan(5_000);
  });
});

test('a problem is rendered as problem+json with its status, delay and request id, and without its cause', async () => {
  const problem = new Problem('temporarily_unavailable', 'Ask again.', {
    retryAfterSeconds: 0,
    cause: new Error('password=hunter2'),
  });
  const listener = await listenHttp('127.0.0.1:0', (_, response) => renderProblem(response, problem, 'req_1'));
  cleanups.push(() => listener.close(0));
  const response = await fetch(`http://127.0.0.1:${listener.port}/`, { headers: { connection: 'close' } });
  expect(response.status).toBe(503);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'retry-after': '0',
  });
  expect(await response.json()).toEqual({
    type: 'urn:longwave:problem:temporarily-unavailable',
    title: 'A dependency is not available',
    status: 503,
    detail: 'Ask again.',
    code: 'temporarily_unavailable',
    retry: { class: 'after_delay', after_seconds: 0 },
    trace_id: 'req_1',
  });
});
