import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { listenHttp } from './listen-http.ts';

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
