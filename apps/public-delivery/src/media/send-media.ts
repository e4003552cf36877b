import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteRangeServed } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { ifRangeHolds, noneMatchHolds } from '../http/conditional.ts';
import { slicesOf, type ArrangementPart } from './arrangement.ts';
import { readRange, type ByteInterval } from './byte-range.ts';
import type { OpenSegment } from './open-segment.ts';
import { createWrittenMeter, type CountedMedia, type MeteredResponse, type WrittenMeter } from './written-meter.ts';

/** What is to be sent and how to count it. */
export interface SentMedia {
  /** Strong, with quotes. */
  readonly etag: string;
  readonly parts: readonly ArrangementPart[];
  readonly counted: CountedMedia;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SendMediaOptions {
  readonly openPart: (part: ArrangementPart) => Promise<OpenSegment>;
  readonly addFact: (fact: ByteRangeServed) => void;
  readonly now: () => Date;
}

/** Small enough that an aborted response is credited to within four seconds of audio. */
const writeBytes = 64 * 1024;

/** Hands bytes to the kernel; false when the client is gone. Waiting for it is the back-pressure. */
function write(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  if (response.destroyed || response.closed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const gone = () => resolve(false);
    response.once('close', gone);
    response.write(bytes, (error) => {
      response.off('close', gone);
      resolve(!error);
    });
  });
}

/** Chunks of [from, to) with their place; `endsPart` marks the last one of a part, pieces of the header taken as one. */
async function* readParts(
  parts: SentMedia['parts'],
  { from, to }: ByteInterval,
  openPart: SendMediaOptions['openPart'],
) {
  for (const slice of slicesOf(parts, from, to)) {
    const part = parts[slice.part]!;
    await using segment = await openPart(part);
    let at = part.offset + slice.from;
    const end = part.offset + slice.to;
    for await (const chunk of segment.read(part.from + slice.from, part.from + slice.to))
      for (let i = 0; i < chunk.length; i += writeBytes) {
        const bytes = chunk.subarray(i, i + writeBytes);
        yield { bytes, at, endsPart: at + bytes.length === end && parts[slice.part + 1]?.kind !== 'header' };
        at += bytes.length;
      }
    if (at !== end) throw new Error(`part ${part.blob} ended at ${at - part.offset} of ${part.length} bytes`);
  }
}

async function sendBody(
  response: ServerResponse,
  chunks: ReturnType<typeof readParts>,
  meter: WrittenMeter,
  head: () => void,
): Promise<void> {
  let begun = false;
  for await (const { bytes, at, endsPart } of chunks) {
    // Only once a source gave bytes is it certain that there is something to promise.
    if (!begun) head();
    begun = true;
    if (!(await write(response, bytes))) return;
    meter.wrote(at, at + bytes.length);
    if (endsPart) meter.report();
  }
  response.end();
}

/**
 * Answers GET and HEAD of immutable media: 200, 206, 304 or 416 with exact lengths (RFC 9110 §14, §15.3.7). Several ranges get the
 * whole file. Memory per response: one chunk. Rejects before the first header with `temporarily_unavailable` when no source
 * gives bytes; later failures break the connection, so that the client resumes by range.
 */
export async function sendMedia(
  request: IncomingMessage,
  response: ServerResponse,
  media: SentMedia,
  metered: MeteredResponse,
  { openPart, addFact, now }: SendMediaOptions,
): Promise<void> {
  const { etag, counted } = media;
  const { headers, method } = request;
  const whole: ByteInterval = { from: 0, to: counted.totalBytes };
  const meter = (status: number, requested: readonly ByteInterval[]) =>
    createWrittenMeter(counted, metered, status, requested, addFact, now);
  const common = { ...media.headers, etag, 'accept-ranges': 'bytes' };

  if (noneMatchHolds(headers['if-none-match'], etag)) {
    response.writeHead(304, common).end();
    return meter(304, [whole]).end();
  }
  const range =
    method === 'GET' && ifRangeHolds(headers['if-range'] as string | undefined, etag)
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
  const measured = meter(status, range.kind === 'several' ? range.intervals : [sent]);
  try {
    if (method === 'HEAD') {
      head();
      response.end();
    } else await sendBody(response, readParts(media.parts, sent, openPart), measured, head);
  } catch (error) {
    if (response.headersSent) throw error;
    throw new Problem('temporarily_unavailable', undefined, { cause: error, retryAfterSeconds: 1 });
  } finally {
    if (response.headersSent) measured.end();
  }
}
