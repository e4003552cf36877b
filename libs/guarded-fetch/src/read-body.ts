import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Problem } from '@longwave/problems';

/** An answer whose body was not read yet. */
interface Answer {
  readonly body: AsyncIterable<Uint8Array>;
}

/** The problem that a podcaster reads; `cause` is for the log. */
export const refuse = (detail: string, cause?: unknown): Problem =>
  new Problem('media_not_fetchable', detail, cause === undefined ? {} : { cause });

const megabyte = 1_000_000;
export const tooLarge = (maxBytes: number): Problem =>
  refuse(
    `The file is larger than ${maxBytes >= megabyte ? `${Math.floor(maxBytes / megabyte)} MB` : `${maxBytes} bytes`}.`,
  );

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
};

/** The body without its content encoding, which some hosts apply unasked. Limits count decoded bytes. */
export function decodedBody(answer: IncomingMessage): Readable {
  const encoding = (answer.headers['content-encoding'] ?? '').toLowerCase();
  if (encoding === '' || encoding === 'identity') return answer;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]!() : undefined;
  if (!decoder) throw refuse('The host sends the file in an unsupported content encoding.');
  // Errors of either end reach the reader through the decoder.
  return pipeline(answer, decoder, () => undefined);
}

/** Reads on demand, at most `maxBytes`, and calls `close` at the end of the reading, also after an error. */
export async function* readBounded(
  stream: Readable,
  options: {
    readonly maxBytes: number;
    readonly within: <T>(wait: Promise<T>) => Promise<T>;
    readonly close: () => void;
    readonly asProblem: (error: unknown) => unknown;
  },
): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0;
  try {
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (;;) {
      const { done, value } = await options.within(chunks.next());
      if (done) return;
      sizeBytes += value.length;
      if (sizeBytes > options.maxBytes) throw tooLarge(options.maxBytes);
      yield value;
    }
  } catch (error) {
    throw options.asProblem(error);
  } finally {
    options.close();
    stream.destroy();
  }
}

/** The whole body in memory; its size is bounded by the request's `maxBytes`. Throws `media_not_fetchable` when it breaks off. */
export async function readAll({ body }: Answer): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** At most the first `bytes` of a body; the rest is not fetched. */
export async function readStart({ body }: Answer, bytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes >= bytes) break;
  }
  return Buffer.concat(chunks).subarray(0, bytes);
}
