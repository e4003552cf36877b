import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { maxPayloadBytes, signMessage } from '@longwave/exchange-messages';
import { startExchange, type Exchange, type Platform } from './_exchange.ts';

let exchange: Exchange;
let host: Platform;
beforeAll(async () => {
  exchange = await startExchange();
  host = await exchange.platform();
});
afterAll(() => exchange[Symbol.asyncDispose]());

/** A little less than the most that a body may have. */
const bodyBytes = 8 * 1024 * 1024 - 1024;
const payloadBytes = maxPayloadBytes - 1024;

/** `head`, as many of `part` as there is room for, and `tail`. */
const filled = (bytes: number, head: string, part: string, tail = '') =>
  head + part.repeat(Math.floor((bytes - head.length - tail.length) / Buffer.byteLength(part))) + tail;

/** An object with so many bytes of keys of its own, each another. */
const keys = (bytes: number, last = '"z":0') => {
  const salt = randomUUID();
  const one = (index: number) => `"${salt}${String(index).padStart(8, '0')}":0,`;
  return `{${Array.from({ length: Math.floor((bytes - last.length - 2) / one(0).length) }, (_, at) => one(at)).join('')}${last}}`;
};

/** JSON that costs its reader as much as so many bytes can; each time other text, so that nothing is shared. */
const hostile: readonly (readonly [what: string, make: (bytes: number) => string])[] = [
  ['arrays within one another', (bytes) => filled(bytes, `["${randomUUID()}",`, '[')],
  ['objects within one another', (bytes) => filled(bytes, `{"${randomUUID()}":0,"a":`, '{"a":')],
  ['a number of many digits', (bytes) => filled(bytes, `{"${randomUUID()}":1`, '9', '}')],
  ['numbers beyond every double', (bytes) => filled(bytes, `{"${randomUUID()}":[`, '1e999,', '0]}')],
  ['integers', (bytes) => filled(bytes, `{"${randomUUID()}":[`, '0,', '0]}')],
  ['keys of which the last repeats one', (bytes) => keys(bytes, '"z":0,"z":0')],
  ['keys', (bytes) => keys(bytes)],
  ['a long key', (bytes) => filled(bytes, `{"${randomUUID()}`, 'k', '":0}')],
  ['a long text', (bytes) => filled(bytes, `{"messages":"${randomUUID()}`, 'A', '"}')],
  ['a text of escapes', (bytes) => filled(bytes, `{"messages":["${randomUUID()}`, String.raw`\u0041`, '"]}')],
  ['combining marks', (bytes) => filled(bytes, `{"messages":["${randomUUID()}`, 'e\u0301', '"]}')],
  ['objects without end', (bytes) => filled(bytes, `{"messages":["${randomUUID()}",`, '{},')],
];

/** A message whose signature is right and whose payload is hostile. */
const signed = (make: (bytes: number) => string): string =>
  JSON.stringify({ messages: [signMessage(make(payloadBytes), host.key.privateKey, host.key.id)] });

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are not garbage, in the heap and beside it. */
function usedBytes(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const bodies = 144;
/** One round in twelve fills the body, the others the payload of a message; the last one, which connections may still hold, is small. */
const wholeRound = 3;
/** One of the largest bodies, or 32 of the largest payloads; 2 MB are measured. */
const maxGrowth = 8 * 1024 * 1024;

test('144 hostile bodies, as large as they may be, are refused, and leave no more than 8 MiB behind', async () => {
  const token = await exchange.tokenOf(host);
  const path = `/workspaces/${host.workspaceId}/messages`;
  async function send(name: string, body: string): Promise<void> {
    const { status, body: answer, text } = await exchange.request(host, 'POST', path, { body, token });
    // What is refused is not repeated in the answer.
    expect([name, status >= 400 && status < 500, typeof answer['code'], text.length < 2_000]).toEqual([
      ...[name, true, 'string', true],
    ]);
  }
  async function sendRound(round: number): Promise<void> {
    for (const [what, make] of hostile)
      if (round % 12 === wholeRound) await send(what, make(bodyBytes));
      else await send(`signed: ${what}`, signed(make));
  }
  // What is made once belongs to no body.
  for (const round of [wholeRound, wholeRound + 1]) await sendRound(round);
  const before = usedBytes();
  for (let round = 0; round < bodies / hostile.length; round++) await sendRound(round);
  expect(usedBytes() - before).toBeLessThan(maxGrowth);
}, 300_000);
