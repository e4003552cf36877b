import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { ifRangeHolds, evaluateConditions, type Validators } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import { readRange, type ByteInterval } from './byte-range.ts';
import { fromStore } from './from-store.ts';
import type { Exchange } from './route.ts';

/** A file that nobody counts. */
export interface SentFile extends Validators {
  readonly sizeBytes: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Its bytes, or those of the interval. Called at most once, and not for HEAD and 304. */
  readonly open: (interval?: ByteInterval) => Promise<Readable | AsyncIterable<Buffer> | Buffer>;
}

type Body = Awaited<ReturnType<SentFile['open']>>;

/** The same bytes, once the first chunk is here: until then a source that fails can be answered with 503. */
async function startedBody(body: Exclude<Body, Buffer>): Promise<AsyncIterable<Buffer>> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let first: IteratorResult<Buffer> | undefined = await chunks.next();
  const next = async () => {
    const result = first ?? (await chunks.next());
    first = undefined;
    return result;
  };
  const end = async () => (await chunks.return?.()) ?? { done: true as const, value: undefined };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

async function openBody(file: SentFile, interval: ByteInterval | undefined): Promise<Buffer | AsyncIterable<Buffer>> {
  const body = await file.open(interval);
  return Buffer.isBuffer(body) ? body : startedBody(body);
}

/** Answers GET and HEAD of a file: 200, 206, 304, 412 or 416 with exact lengths (RFC 9110 §13, §14, §15.3.7); several ranges get the whole. */
export async function sendFile({ request, response }: Exchange, file: SentFile): Promise<void> {
  const { etag, modifiedAt, sizeBytes } = file;
  const headers = {
    ...{ etag, 'accept-ranges': 'bytes' },
    ...(modifiedAt && { 'last-modified': modifiedAt.toUTCString() }),
    ...file.headers,
  };
  const condition = evaluateConditions(request.headers, file);
  if (condition === 'failed') throw new Problem('precondition_failed');
  if (condition === 'not_modified') return void response.writeHead(304, headers).end();
  const mayRange = request.method === 'GET' && ifRangeHolds(request.headers['if-range'] as string | undefined, file);
  const range = readRange(mayRange ? request.headers.range : undefined, sizeBytes);
  if (range.kind === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${sizeBytes}`);
    throw new Problem('range_not_satisfiable');
  }
  const partial = range.kind === 'single' ? range.interval : undefined;
  const sent = partial ?? { from: 0, to: sizeBytes };
  const body = request.method === 'HEAD' || sizeBytes === 0 ? undefined : await fromStore(openBody(file, partial));
  response.writeHead(partial ? 206 : 200, {
    ...headers,
    'content-length': String(sent.to - sent.from),
    ...(partial && { 'content-range': `bytes ${sent.from}-${sent.to - 1}/${sizeBytes}` }),
  });
  if (body === undefined || Buffer.isBuffer(body)) return void response.end(body);
  await pipeline(body, response).catch(() => response.destroy());
}

/** The same of bytes that are in memory. */
export const sendDocument = (
  exchange: Exchange,
  bytes: Buffer,
  etag: string,
  headers: SentFile['headers'],
): Promise<void> =>
  sendFile(exchange, {
    ...{ etag, modifiedAt: undefined, headers },
    sizeBytes: bytes.length,
    open: async (interval) => (interval ? bytes.subarray(interval.from, interval.to) : bytes),
  });
