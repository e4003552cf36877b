import type { IncomingMessage } from 'node:http';

/** Passes bytes on until there are more than `maxBytes`; then throws what `tooLarge` makes. */
export async function* boundedBytes(
  source: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge: () => Error,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    yield chunk;
  }
}

/**
 * The bytes of a request's body, as they come. A body that is announced as too large is not read at all. The request is never destroyed,
 * because its connection still has to carry the answer.
 */
export async function* requestBytes(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error,
): AsyncGenerator<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  yield* boundedBytes(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>, maxBytes, tooLarge);
}
