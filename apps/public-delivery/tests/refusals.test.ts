import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256 } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener } from './_ask.ts';
import { releaseWith } from './_release.ts';
import { audio, makeShow, openBench, type Bench } from './_support.ts';

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
])(
  'a request that cannot be parsed is refused with %i in the shape of every other refusal',
  async (status, code, bytes) => {
    const { head, body } = await answerTo(bytes);
    expect(head).toContain('content-type: application/problem+json');
    expect(body).toMatchObject({ status, code });
    const other = JSON.parse((await askAt(() => app.port)('/nowhere')).body.toString()) as object;
    expect(Object.keys(body).toSorted()).toEqual(Object.keys(other).toSorted());
  },
);

test('a foreign alias or token is answered like a missing one', async () => {
  const ad = audio(10);
  await bench.store.put(`media/${sha256(ad)}`, ad, { contentType: 'audio/mpeg' });
  const ask = askAt(() => app.port);
  const enclosure = await releaseWith(() => bench, ask)(await makeShow(bench.store, audio(10)));
  const redirect = await ask(enclosure, newListener());
  expect(redirect.status).toBe(302);
  const location = new URL(String(redirect.headers.location));
  const token = location.pathname.split('/')[4]!;
  const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
  const alias = new URL(enclosure).pathname.split('/')[4]!;
  const answers = await Promise.all(
    [
      `/p/${flipped}/x.mp3`,
      `/p/${alias}/x.mp3`,
      `/p/t1.${'A'.repeat(100)}/x.mp3`,
      '/p/x/x.mp3',
      `/p/${token}/x.exe`,
      `/e/${token}/x.mp3`,
      `/e/${flipped}/x.mp3`,
      `/a/${'0'.repeat(64)}/x.mp3`,
      `/a/${sha256(ad)}/x.mp3`,
      '/f/upl_1/x.png',
      '/nothing',
    ].map((path) => ask(`/delivery/v1${path}`, newListener())),
  );
  const [first] = answers;
  expect(first!.headers['content-type']).toBe('application/problem+json');
  for (const answer of answers) {
    // Browsers may read the id, and the log has it too; nothing else tells one from another.
    const traceId = String(answer.headers['x-request-id']);
    expect(answer.headers['access-control-expose-headers']).toContain('X-Request-Id');
    expect(bench.logLines.some((line) => line.includes(traceId))).toBe(true);
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([
      404,
      {
        type: 'urn:longwave:problem:resource-not-found',
        ...{
          title: 'There is no such resource',
          detail: 'There is no such resource',
          status: 404,
          code: 'not_found',
        },
        ...{ retry: { class: 'never' }, instance: `urn:longwave:request:${traceId}`, trace_id: traceId },
      },
    ]);
  }
});
