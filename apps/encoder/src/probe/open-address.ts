import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import { MediaFault } from '../media/media-fault.ts';
import type { ByteReader } from '../media/source-structure.ts';

const headBytes = 65_536;
/** The most that one probe may transfer, and the largest file whose host answers no byte ranges. */
const maxBytes = 32 * 1024 * 1024;
const firstPieceBytes = 256 * 1024;
const requestMs = 15_000;

const inEnglish = new Intl.NumberFormat('en');
const faulty = (detail: string) => new MediaFault('media_not_fetchable', detail);

/** A file at an address that a client named, readable in pieces. */
export interface OpenAddress extends AsyncDisposable {
  readonly reader: ByteReader;
  /** On the loopback interface of this machine, for ffprobe, which must never open the address itself. */
  readonly url: string;
}

/**
 * Opens a file by guarded byte ranges, or whole when its host answers none and it is small. Throws `MediaFault` when it cannot be fetched.
 */
export async function openAddress(
  guardedFetch: GuardedFetch,
  address: string,
  options: { readonly maxSourceBytes: number; readonly signal: AbortSignal },
): Promise<OpenAddress> {
  const { maxSourceBytes, signal } = options;
  let transferred = 0;
  /**
   * Bytes [from, to) of the file, in pieces that grow: ffprobe requests everything up to the end and hangs up when it has enough, so
   * `reading` is aborted before the next piece is fetched.
   */
  async function* stream(url: string, from: number, to: number, reading: AbortSignal): AsyncGenerator<Uint8Array> {
    const both = AbortSignal.any([signal, reading]);
    for (let [at, pieceBytes] = [from, firstPieceBytes]; at < to; at += pieceBytes, pieceBytes *= 2) {
      const range = `bytes=${at}-${Math.min(to, at + pieceBytes) - 1}`;
      using response = await guardedFetch(url, { range, maxBytes: pieceBytes, timeoutMs: requestMs, signal: both });
      if (response.status !== 206) throw faulty(answered(response.status));
      for await (const chunk of response.body) {
        transferred += chunk.length;
        if (transferred > maxBytes)
          throw faulty('The beginning of the file does not show what kind of file it is. Upload it instead.');
        yield chunk;
      }
    }
  }

  const head = await openHead(guardedFetch, address, maxSourceBytes, signal);
  const open = new AbortController();
  const read = (from: number, to: number, reading: AbortSignal = open.signal) =>
    head.whole ? [head.bytes.subarray(from, to)] : stream(head.url, from, Math.min(to, head.sizeBytes), reading);
  const reader: ByteReader = {
    sizeBytes: head.sizeBytes,
    read: async (from, to) => {
      if (from >= Math.min(to, head.sizeBytes)) return Buffer.alloc(0);
      if (to <= head.bytes.length) return head.bytes.subarray(from, to);
      return await readAll({ body: toAsync(read(from, to)) });
    },
  };
  const served = await serveOnLoopback(head.sizeBytes, read);
  return {
    reader,
    url: served.url,
    [Symbol.asyncDispose]: async () => {
      open.abort();
      await served.close();
    },
  };
}

async function* toAsync<T>(values: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

interface Head {
  /** The address after all redirects, for the other ranges. */
  readonly url: string;
  readonly sizeBytes: number;
  readonly bytes: Buffer;
  /** `bytes` is all of it. */
  readonly whole: boolean;
}

async function openHead(
  guardedFetch: GuardedFetch,
  address: string,
  maxSourceBytes: number,
  signal: AbortSignal,
): Promise<Head> {
  using response = await guardedFetch(address, {
    range: `bytes=0-${headBytes - 1}`,
    maxBytes: maxSourceBytes,
    timeoutMs: requestMs,
    signal,
  });
  const { status, headers, finalUrl } = response;
  const total = /^bytes (?:\d+-\d+|\*)\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1];
  if (status === 416 && total === '0') throw new MediaFault('media_empty', 'The file at this address is empty.');
  if (status !== 200 && status !== 206) throw faulty(answered(status));
  if (status === 206) {
    const sizeBytes = Number(total ?? Number.NaN);
    if (!Number.isSafeInteger(sizeBytes))
      throw faulty('The host does not say how large the file is. Upload the file instead.');
    if (sizeBytes > maxSourceBytes)
      throw faulty(`The file has more than ${inEnglish.format(maxSourceBytes)} bytes. Upload a smaller one.`);
    const bytes = await readAll(response);
    return { url: finalUrl, sizeBytes, bytes, whole: bytes.length >= sizeBytes };
  }
  const chunks: Uint8Array[] = [];
  let received = 0;
  const tooLarge = () =>
    faulty(
      'The host does not support byte ranges, which podcast apps need, and the file is too large to be read without them. Upload it instead.',
    );
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  for await (const chunk of response.body) {
    received += chunk.length;
    if (received > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  return { url: finalUrl, sizeBytes: bytes.length, bytes, whole: true };
}

const answered = (status: number) => `The address answers with status ${status}. Check it, or upload the file instead.`;

/** Serves one file under a secret path on 127.0.0.1, with byte ranges. */
async function serveOnLoopback(
  sizeBytes: number,
  read: (from: number, to: number, reading: AbortSignal) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const path = `/${randomUUID()}`;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== path) return response.writeHead(404).end();
    const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? 'bytes=0-') ?? [];
    const from = Number(first);
    const to = Math.min(sizeBytes, last === '' ? sizeBytes : Number(last) + 1);
    if (from >= to) return response.writeHead(416, { 'content-range': `bytes */${sizeBytes}` }).end();
    const reading = new AbortController();
    response.once('close', () => reading.abort());
    response.writeHead(206, {
      'accept-ranges': 'bytes',
      'content-range': `bytes ${from}-${to - 1}/${sizeBytes}`,
      'content-length': to - from,
    });
    return await pipeline(read(from, to, reading.signal), response);
  };
  const server = createServer((request, response) => {
    // A piece that cannot be fetched ends the connection: ffprobe reports what is missing.
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
