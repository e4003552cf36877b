import type { IncomingMessage, ServerResponse } from 'node:http';
import { ifRangeHolds, evaluateConditions, type Validators } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import { readRange, type ByteInterval } from '../http/byte-range.ts';
import type { FactSink } from '../facts/fact-sink.ts';
import { createWrittenMeter, type CountedFile, type MeteredResponse, type WrittenMeter } from './written-meter.ts';

/** A file to send, and how it is counted. */
export interface SentMedia extends Validators {
  readonly source: MediaSource;
  readonly counted: CountedFile;
  readonly headers: Readonly<Record<string, string>>;
}

/** A chunk with its place; after one that `endsPart`, what was written is recorded. */
interface MediaChunk {
  readonly bytes: Buffer;
  readonly at: number;
  readonly endsPart: boolean;
}

/** The bytes of a file, wherever they lie. They never change. */
export interface MediaSource {
  /** In chunks, each good until the next one is asked for. */
  read(interval: ByteInterval): AsyncGenerator<MediaChunk>;
  /** One buffer after the other, when all are in memory and may be written at once. */
  find(interval: ByteInterval): readonly Buffer[] | undefined;
}

export interface SendMediaOptions {
  readonly facts: Pick<FactSink, 'add' | 'settled'>;
  readonly now: () => Date;
}

/** Small enough that a response that a slow client aborts is credited to within four seconds of audio. */
export const writeBytes = 64 * 1024;
/** A client that took one write within this time gets the next chunk in one piece. */
const fastMs = 5;

/** Hands bytes to the kernel, one write after the other; false once the client is gone. Waiting for it is the back-pressure. */
function writerTo(response: ServerResponse): (bytes: Buffer) => Promise<boolean> {
  let ended: () => void = () => undefined;
  response.once('close', () => ended());
  return (bytes) => {
    if (response.destroyed || response.closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      ended = () => resolve(false);
      response.write(bytes, (error) => resolve(!error));
    });
  };
}

/** Hands head and body to the kernel in one write; false when the client is gone before it took all. */
function sendAtOnce(response: ServerResponse, bytes: readonly Buffer[], head: () => void): Promise<boolean> {
  head();
  if (response.destroyed || response.closed) return Promise.resolve(false);
  return new Promise((resolve) => {
    response.once('close', () => resolve(false));
    // All writes of one turn go together.
    for (const each of bytes.slice(0, -1)) response.write(each);
    response.write(bytes.at(-1), (error) => resolve(!error));
    response.end();
  });
}

/**
 * The last write waits until everything before it is recorded: a client that has the whole body is counted with all but its last
 * write, even when this process is killed.
 */
async function sendBody(
  response: ServerResponse,
  chunks: AsyncGenerator<MediaChunk>,
  sent: ByteInterval,
  meter: WrittenMeter,
  head: () => void,
  settled: () => Promise<void>,
): Promise<void> {
  const write = writerTo(response);
  let begun = false;
  let most = writeBytes;
  for await (const { bytes, at, endsPart } of chunks) {
    // The status waits for the first bytes: until then a source that fails can be answered with 503.
    if (!begun) head();
    begun = true;
    for (let i = 0; i < bytes.length;) {
      const piece = bytes.subarray(i, i + most);
      if (at + i + piece.length === sent.to && at + i > sent.from) {
        meter.report();
        await settled();
      }
      const beganMs = performance.now();
      if (!(await write(piece))) return;
      most = performance.now() - beganMs < fastMs ? Infinity : writeBytes;
      meter.wrote(at + i, at + i + piece.length);
      i += piece.length;
    }
    if (endsPart) meter.report();
  }
  response.end();
}

/**
 * Answers GET and HEAD of immutable media: 200, 206, 304, 412 or 416 with exact lengths (RFC 9110 §13, §14, §15.3.7). Several ranges get the
 * whole file. Memory per response: one chunk. Rejects before the first header with `temporarily_unavailable` when no source
 * gives bytes; later failures break the connection, so that the client resumes by range.
 */
export async function sendMedia(
  request: IncomingMessage,
  response: ServerResponse,
  media: SentMedia,
  metered: MeteredResponse,
  { facts, now }: SendMediaOptions,
): Promise<void> {
  const { etag, modifiedAt, counted, source } = media;
  const { headers, method } = request;
  const whole: ByteInterval = { from: 0, to: counted.totalBytes };
  const meter = (status: number, requested: readonly ByteInterval[]) =>
    createWrittenMeter(counted, metered, status, requested, facts.add, now);
  const common = {
    ...media.headers,
    etag,
    'accept-ranges': 'bytes',
    ...(modifiedAt && { 'last-modified': modifiedAt.toUTCString() }),
  };
  const condition = evaluateConditions(headers, media);

  if (condition === 'failed') {
    meter(412, []).end();
    throw new Problem('precondition_failed');
  }
  if (condition === 'not_modified') {
    response.writeHead(304, common).end();
    return meter(304, [whole]).end();
  }
  const range =
    method === 'GET' && ifRangeHolds(headers['if-range'] as string | undefined, media)
      ? readRange(headers.range, whole.to)
      : { kind: 'whole' as const };
  if (range.kind === 'unsatisfiable') {
    meter(416, []).end();
    response.setHeader('content-range', `bytes */${whole.to}`);
    throw new Problem('range_not_satisfiable');
  }
  const sent = range.kind === 'single' ? range.interval : whole;
  const status = range.kind === 'single' ? 206 : 200;
  const head = () =>
    void response.writeHead(status, {
      ...common,
      'content-length': String(sent.to - sent.from),
      ...(status === 206 && { 'content-range': `bytes ${sent.from}-${sent.to - 1}/${whole.to}` }),
    });
  let last: ByteInterval | undefined;
  const measured = meter(status, range.kind === 'several' ? range.intervals : [sent]);
  try {
    if (method === 'HEAD') {
      head();
      response.end();
      return;
    }
    const inMemory = source.find(sent);
    if (!inMemory) return await sendBody(response, source.read(sent), sent, measured, head, facts.settled);
    if (await sendAtOnce(response, inMemory, head)) last = sent;
  } catch (error) {
    if (response.headersSent) throw error;
    throw new Problem('temporarily_unavailable', undefined, { cause: error, retryAfterSeconds: 1 });
  } finally {
    if (response.headersSent) measured.end(last);
  }
}
