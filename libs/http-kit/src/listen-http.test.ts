import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { listenHttp } from './listen-http.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
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
      ...{ trace_id: expect.stringMatching(/^req_/), instance: expect.stringMatching(/^urn:longwave:request:req_/) },
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

test('a connection on which nothing was ever asked does not hold a closing server', async () => {
  const listener = await listenHttp('127.0.0.1:0', (_request, response) => response.end('ok'));
  const silent = connect(listener.port, '127.0.0.1');
  silent.once('error', () => undefined);
  // Connections are accepted in order, so the silent one is when this answer comes.
  expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe('ok');
  const beganAt = performance.now();
  await listener.close();
  expect(performance.now() - beganAt).toBeLessThan(5_000);
});

test('a request that is not received in time is cut off, while an answer may take as long as it needs', async () => {
  const cut = Promise.withResolvers<void>();
  const received = Promise.withResolvers<void>();
  const listener = await listenHttp(
    '127.0.0.1:0',
    (request, response) => {
      request.once('error', () => undefined);
      if (request.method === 'POST') return received.resolve();
      response.write('first ');
      void cut.promise.then(() => response.end('last'));
    },
    { requestTimeoutMs: 100 },
  );
  try {
    const answer = fetch(`http://127.0.0.1:${listener.port}/`);
    const slow = connect(listener.port, '127.0.0.1');
    slow.write('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf');
    await received.promise;
    await new Promise((resolve) => slow.once('close', resolve).resume());
    cut.resolve();
    expect(await (await answer).text()).toBe('first last');
  } finally {
    await listener.close(0);
  }
});

test('a connection whose request was answered before the end of its body serves the next request', async () => {
  const listener = await listenHttp('127.0.0.1:0', (request, response) => {
    if (request.method === 'GET') return void response.end('next');
    request.once('data', () => {
      // As a parser does whose limit is reached.
      request.pause();
      response.writeHead(413).end();
    });
  });
  try {
    const client = connect(listener.port, '127.0.0.1');
    client.write(`POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`);
    client.write('GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n');
    const answers = (await client.setEncoding('utf8').toArray()).join('');
    expect(answers.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  } finally {
    await listener.close(0);
  }
});
