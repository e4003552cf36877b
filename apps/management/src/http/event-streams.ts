import { once } from 'node:events';
import { Problem } from '@longwave/problems';
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
  /** Aborted when the client has gone or does not follow, when the process stops, and at the end of the stream's life. */
  readonly signal: AbortSignal;
  /** Resolves when the client may get the next one, so that nothing piles up here. */
  readonly send: (event: StreamEvent) => Promise<void>;
  /** Whether the token, and what its holder sees, should be checked again; then not again for a while. */
  readonly isCheckDue: () => boolean;
  /** Tells the client where to go on, without an event. */
  readonly mark: (id: string) => Promise<void>;
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
   * An answer that sends what `work` writes, and ends with it. A problem of `work` is the last event, `closed`. Throws `rate_limited` when
   * the client has as many streams open as it may, `temporarily_unavailable` when this process has.
   */
  readonly open: (clientId: string, work: (writer: EventWriter) => Promise<void>) => EventStreamAnswer;
}

/** The streams of server-sent events of this process. Disposing ends them all; then none opens. */
export function createEventStreams({
  maxPerClient = 5,
  maxStreams = 1_000,
  checkEveryMs = 30_000,
}: {
  readonly maxPerClient?: number;
  readonly maxStreams?: number;
  /** How long a token that has ended may still get events. */
  readonly checkEveryMs?: number;
} = {}): EventStreams {
  const stopping = new AbortController();
  const openOf = new Map<string, number>();
  const running = new Set<Promise<void>>();

  function occupy(clientId: string): () => void {
    if (stopping.signal.aborted || running.size >= maxStreams)
      throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 5 });
    const open = openOf.get(clientId) ?? 0;
    if (open >= maxPerClient)
      throw new Problem('rate_limited', `A client may have ${maxPerClient} streams open. Close one first.`, {
        retryAfterSeconds: 10,
      });
    openOf.set(clientId, open + 1);
    return () => {
      const left = openOf.get(clientId)! - 1;
      if (left === 0) openOf.delete(clientId);
      else openOf.set(clientId, left);
    };
  }

  return {
    open: (clientId, work) => {
      const release = occupy(clientId);
      return {
        status: 200,
        contentType: 'text/event-stream',
        headers: { 'X-Accel-Buffering': 'no' },
        stream: async (response) => {
          const streaming = streamEvents(response, { stopping: stopping.signal, checkEveryMs }, work);
          running.add(streaming);
          try {
            await streaming;
          } finally {
            running.delete(streaming);
            release();
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

async function streamEvents(
  response: Response,
  { stopping, checkEveryMs }: { readonly stopping: AbortSignal; readonly checkEveryMs: number },
  work: (writer: EventWriter) => Promise<void>,
): Promise<void> {
  if (response.req.method === 'HEAD') return void response.end();
  // The client has gone already: `close` would not be heard any more.
  if (response.destroyed || response.closed) return;
  let checkedAt = performance.now();
  const isCheckDue = () => {
    const isDue = performance.now() - checkedAt >= checkEveryMs;
    if (isDue) checkedAt = performance.now();
    return isDue;
  };
  const ending = new AbortController();
  const { signal } = ending;
  const end = () => ending.abort();
  response.once('close', end);
  stopping.addEventListener('abort', end, { once: true });
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
  const send = ({ id, event, data }: StreamEvent) =>
    write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  try {
    await write('retry: 2000\n\n');
    await work({ signal, send, isCheckDue, mark: (id) => write(`id: ${id}\n\n`) });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, message: detail } = error;
    await send({ event: 'closed', data: { code, detail } });
  } finally {
    clearTimeout(life);
    clearInterval(beat);
    stopping.removeEventListener('abort', end);
    response.end();
  }
}
