import { once } from 'node:events';
import { Problem } from '@longwave/problems';
import { createGate, type Gate } from '@longwave/service-kit';
import { sleep } from '@longwave/worker-kit';
import type { Response } from 'express';

/** A comment keeps idle connections open through proxies. */
const beatEveryMs = 15_000;
/** A client that takes nothing for so long has gone, or is too slow to follow. */
const drainMs = 30_000;
/** A stream then ends, and its client opens it again where it was (HTML standard §9.2.3). */
const streamLifeMs = 60 * 60_000;

/** An event of a stream (HTML standard §9.2.6). */
interface StreamEvent {
  /** The client sends it as `Last-Event-ID` when it opens the stream again. */
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

/** The way to the client of one stream. */
export interface EventWriter {
  /** Aborted when the client has gone or does not follow, when its check fails, when the process stops, and at the end of the stream's life. */
  readonly signal: AbortSignal;
  /** Resolves when the client may get the next one, so that nothing piles up here. */
  readonly send: (event: StreamEvent) => Promise<void>;
  /** Tells the client where to go on, without an event. */
  readonly mark: (id: string) => Promise<void>;
  /** Reads for the stream when few others read. Throws the reason of the signal when the stream ends before it began. */
  readonly read: <T>(work: () => Promise<T>) => Promise<T>;
}

/** What a stream does. */
export interface StreamWork {
  /** Looks again whether the client may have the stream, now and then, also while the client takes nothing. Throws when it may not. */
  readonly check: () => Promise<void>;
  /** Writes the events; the stream ends with it. */
  readonly write: (writer: EventWriter) => Promise<void>;
}

/** The answer of a route that streams events. */
interface EventStreamAnswer {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: 'text/event-stream';
  readonly stream: (response: Response) => Promise<void>;
}

export interface EventStreams extends AsyncDisposable {
  /**
   * An answer that sends what the work writes. A problem of it is the last event, `closed`. Throws `rate_limited` when the client or the
   * workspace has as many streams open as it may, `temporarily_unavailable` when this process has.
   */
  readonly open: (
    holder: { readonly clientId: string; readonly workspaceId: string },
    work: StreamWork,
  ) => EventStreamAnswer;
}

/** What the streams of a process share. */
interface Shared {
  readonly stopping: AbortSignal;
  readonly checkEveryMs: number;
  readonly gate: Gate;
}

/** The streams of server-sent events of this process. Disposing ends them all; then none opens. */
export function createEventStreams({
  maxPerClient = 5,
  maxPerWorkspace = 100,
  maxStreams = 1_000,
  maxReads = 4,
  checkEveryMs = 5_000,
}: {
  readonly maxPerClient?: number;
  readonly maxPerWorkspace?: number;
  readonly maxStreams?: number;
  /** Reads of all streams that run at a time. */
  readonly maxReads?: number;
  /** How long a token that has ended may still get events. */
  readonly checkEveryMs?: number;
} = {}): EventStreams {
  const stopping = new AbortController();
  const shared: Shared = { stopping: stopping.signal, checkEveryMs, gate: createGate(maxReads) };
  const openOf = new Map<string, number>();
  const running = new Set<Promise<void>>();

  function occupy(holder: string, most: number, sentence: string): () => void {
    const open = openOf.get(holder) ?? 0;
    if (open >= most) throw new Problem('rate_limited', sentence, { retryAfterSeconds: 10 });
    openOf.set(holder, open + 1);
    return () => {
      const left = openOf.get(holder)! - 1;
      if (left === 0) openOf.delete(holder);
      else openOf.set(holder, left);
    };
  }

  return {
    open: ({ clientId, workspaceId }, work) => {
      if (stopping.signal.aborted || running.size >= maxStreams)
        throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 5 });
      using places = new DisposableStack();
      const ofClient = `A client may have ${maxPerClient} streams open. Close one first.`;
      places.defer(occupy(`client ${clientId}`, maxPerClient, ofClient));
      const ofWorkspace = `The clients of a workspace may have ${maxPerWorkspace} streams open. Close one first.`;
      places.defer(occupy(`workspace ${workspaceId}`, maxPerWorkspace, ofWorkspace));
      const occupied = places.move();
      return {
        status: 200,
        contentType: 'text/event-stream',
        headers: { 'X-Accel-Buffering': 'no' },
        stream: async (response) => {
          const streaming = streamEvents(response, shared, work);
          running.add(streaming);
          try {
            await streaming;
          } finally {
            running.delete(streaming);
            occupied.dispose();
          }
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Runs the check every so often; resolves with what it throws, or with undefined when the signal is aborted. */
async function failureOfChecks({ check }: StreamWork, everyMs: number, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    await sleep(everyMs, signal);
    if (signal.aborted) return undefined;
    try {
      await check();
    } catch (error) {
      return error;
    }
  }
}

async function streamEvents(response: Response, shared: Shared, work: StreamWork): Promise<void> {
  if (response.req.method === 'HEAD') return void response.end();
  // The client has gone already: `close` would not be heard any more.
  if (response.destroyed || response.closed) return;
  const { stopping, checkEveryMs, gate } = shared;
  const ending = new AbortController();
  const { signal } = ending;
  const end = () => ending.abort();
  response.once('close', end);
  stopping.addEventListener('abort', end, { once: true });
  if (stopping.aborted) end();
  const life = setTimeout(end, streamLifeMs);
  const beat = setInterval(() => {
    if (!signal.aborted && !response.writableNeedDrain) response.write(': still here\n\n');
  }, beatEveryMs);

  const write = async (text: string): Promise<void> => {
    if (signal.aborted || response.write(text)) return;
    const slow = setTimeout(() => response.destroy(), drainMs);
    // Rejects when the stream ends meanwhile; then there is nothing to wait for.
    await once(response, 'drain', { signal }).catch(() => undefined);
    clearTimeout(slow);
  };
  const send = (event: StreamEvent) => write(eventText(event));
  let failure: unknown;
  void failureOfChecks(work, checkEveryMs, signal).then((error) => {
    failure ??= error;
    end();
  });
  try {
    await write('retry: 2000\n\n');
    const mark = (id: string) => write(`id: ${id}\n\n`);
    await work.write({ signal, send, mark, read: (reading) => gate(reading, signal) });
  } catch (error) {
    // A wait that the end of the stream has ended is none.
    if (error !== signal.reason) failure ??= error;
  }
  end();
  clearTimeout(life);
  clearInterval(beat);
  stopping.removeEventListener('abort', end);
  const problem = failure instanceof Problem ? failure : undefined;
  if (failure !== undefined && !problem) throw failure as Error;
  // A client that takes nothing does not take the end either.
  if (response.writableNeedDrain) return void response.destroy();
  response.end(problem && eventText({ event: 'closed', data: { code: problem.code, detail: problem.message } }));
}

/** An event as it is written. */
const eventText = ({ id, event, data }: StreamEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
