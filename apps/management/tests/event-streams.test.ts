import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { listenHttp } from '@longwave/http-kit';
import express, { type Response } from 'express';
import { createEventStreams } from '../src/http/event-streams.ts';

test('a client that has gone before its stream begins holds no place', async () => {
  await using streams = createEventStreams({ maxPerClient: 1 });
  const app = express();
  const arrived = new Promise<Response>((resolve) => void app.get('/', (_request, response) => resolve(response)));
  await using listener = await closing(app);
  const socket = connect(listener.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: api.test\r\n\r\n');
  const response = await arrived;
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  let begun = 0;
  const work = async () => void (begun += 1);
  await streams.open('cli_1', work).stream(response);
  await streams.open('cli_1', work).stream(response);
  expect(begun).toBe(0);
});

async function closing(app: express.Express) {
  const listener = await listenHttp('127.0.0.1:0', app);
  return { port: listener.port, [Symbol.asyncDispose]: () => listener.close() };
}
