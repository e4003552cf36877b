import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A source that gives nothing for this long is given up. */
const silentMs = 30_000;

/**
 * Hands every chunk to `take`, one after the other. Rejects with the error of either side, and when the source falls silent.
 */
export async function drainBody(body: Readable, take: (chunk: Buffer) => Promise<void> | void): Promise<void> {
  const silence = setTimeout(() => body.destroy(new Error('the object store fell silent')), silentMs);
  const takeNext = async (chunk: Buffer) => {
    await take(chunk);
    silence.refresh();
  };
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, next) => void takeNext(chunk).then(() => next(), next),
  });
  try {
    await pipeline(body, sink);
  } finally {
    clearTimeout(silence);
  }
}

/** All bytes of a body. Rejects like `drainBody`, and as soon as it has more than `maxBytes`; `name` is in the error. */
export async function readWhole(body: Readable, maxBytes: number, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await drainBody(body, (chunk) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`${name} has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}
