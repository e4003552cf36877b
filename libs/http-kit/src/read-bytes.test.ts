import { request as send } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { listenHttp } from './listen-http.ts';
import { boundedBytes, requestBytes } from './read-bytes.ts';

const tooLarge = () => new Error('too large');

async function collect(bytes: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const parts = (...texts: string[]) => Readable.from(texts.map((text) => Buffer.from(text)));

test('as many bytes as are allowed pass, and not one more', async () => {
  expect(await collect(boundedBytes(parts('ab', 'cd'), 4, tooLarge))).toBe('abcd');
  await expect(collect(boundedBytes(parts('ab', 'cde'), 4, tooLarge))).rejects.toThrow('too large');
});

test.each([
  ['announces', { 'content-length': '5' }],
  ['does not announce', { 'transfer-encoding': 'chunked' }],
])('a client that sends too much, and %s it, still gets an answer', async (_how, headers) => {
  await using stack = new AsyncDisposableStack();
  const listener = await listenHttp('127.0.0.1:0', (request, response) => {
    collect(requestBytes(request, 4, tooLarge)).then(
      (text) => response.end(text),
      (error: Error) => response.end(error.message),
    );
  });
  stack.defer(() => listener.close(0));
  const answer = await new Promise<string>((resolve, reject) => {
    const sent = send({ port: listener.port, method: 'POST', headers }, (response) => resolve(collect(response)));
    sent.once('error', reject).end('abcde');
  });
  expect(answer).toBe('too large');
});
