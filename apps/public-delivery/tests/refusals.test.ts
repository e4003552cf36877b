import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DeliveryApp } from '../src/app.ts';
import { askAt } from './_ask.ts';
import { openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

/** Head and body of the answer to these bytes. */
async function answerTo(bytes: string) {
  const socket = connect(app.port, '127.0.0.1');
  socket.end(bytes);
  const [head, body] = Buffer.concat((await socket.toArray()) as Buffer[])
    .toString()
    .split('\r\n\r\n');
  return { head: head!, body: JSON.parse(body!) as Record<string, unknown> };
}

test.each([
  [400, 'malformed_request', 'nonsense\r\n\r\n'],
  [417, 'expectation_failed', 'GET / HTTP/1.1\r\nhost: a\r\nexpect: wonders\r\nconnection: close\r\n\r\n'],
  [431, 'headers_too_large', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
])('what cannot be read is refused with %i in the shape of every other refusal', async (status, code, bytes) => {
  const { head, body } = await answerTo(bytes);
  expect(head).toContain('content-type: application/problem+json');
  expect(body).toMatchObject({ status, code });
  const other = JSON.parse((await askAt(() => app.port)('/nowhere')).body.toString()) as object;
  expect(Object.keys({ ...body, trace_id: '' }).toSorted()).toEqual(Object.keys(other).toSorted());
});
