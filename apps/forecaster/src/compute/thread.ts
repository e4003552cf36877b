import { Worker } from 'node:worker_threads';
import type { AnswerTo, Question, Reply, Request, ThreadData } from './question.ts';

/** A thread that reads for several questions at a time and computes for one after the other. */
export interface ComputeThread extends AsyncDisposable {
  /** Asks a question; a thread that is ended while it computes the answer gives its other questions to the next one. */
  ask<Q extends Question>(question: Q, until: Until): Promise<AnswerTo<Q>>;
}

/** How long a question is worked on. */
interface Until {
  /** Aborted: the question rejects with the reason, and the thread is ended if it computes the answer. */
  readonly ended?: AbortSignal;
  /**
   * Of somebody who waits: aborted when they have left. What is being read is kept, and nothing is computed from it; what is being computed
   * is kept as well, if it ends soon. Nobody has the thread compute for longer than a minute.
   */
  readonly left?: AbortSignal;
}

/** The thread was ended, as it computed the answer for longer than it may. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/** Beside the bundle, or beside the folder of this file. */
const entry = import.meta.url.endsWith('.ts') ? '../compute-thread.ts' : './compute-thread.js';
/** The longest that a thread computes for somebody who waits. It is ended then, with all that it has read and made. */
const maxMs = 60_000;
/** The longest that it goes on once they have left: as long as the largest workspaces need, whose next question finds what was made. */
const graceMs = 30_000;

interface Asked extends Pick<Until, 'left'> {
  readonly question: Question;
  readonly resolve: (answer: Reply & { readonly end: 'answered' }) => void;
  readonly reject: (error: unknown) => void;
}

/** What this uses of a worker. */
type OwnWorker = Pick<Worker, 'on' | 'postMessage' | 'terminate'>;

const startWorker = (data: ThreadData): OwnWorker => new Worker(new URL(entry, import.meta.url), { workerData: data });

/** Starts a thread with the first question; it keeps what it has read for the next one. */
export function createComputeThread(data: ThreadData, startOwn = startWorker): ComputeThread {
  let worker: OwnWorker | undefined;
  let nextId = 0;
  let computing: { readonly id: number; readonly sinceMs: number } | undefined;
  let limit: NodeJS.Timeout | undefined;
  const asked = new Map<number, Asked>();
  const send = (request: Request) => worker!.postMessage(request);

  /** Ends the thread if it still computes the answer to a question some time after it has begun to. */
  function limitTo(ms: number, id: number): void {
    clearTimeout(limit);
    limit = setTimeout(() => fail(id, new TookTooLong()), ms);
  }

  function limitGrace({ id, sinceMs }: { readonly id: number; readonly sinceMs: number }): void {
    const leftMs = maxMs - (performance.now() - sinceMs);
    limitTo(Math.min(graceMs, leftMs), id);
  }

  function onBegun(id: number): void {
    computing = { id, sinceMs: performance.now() };
    const found = asked.get(id);
    // It was ended while the thread said that it begins.
    if (!found) return restart();
    if (found.left?.aborted) limitGrace(computing);
    else if (found.left) limitTo(maxMs, id);
  }

  function onReply(reply: Reply): void {
    if (reply.end === 'begun') return onBegun(reply.id);
    if (computing?.id === reply.id) {
      computing = undefined;
      clearTimeout(limit);
    }
    const found = asked.get(reply.id);
    if (!found) return;
    asked.delete(reply.id);
    if (reply.end === 'answered') found.resolve(reply);
    else found.reject(new Error(reply.message));
  }

  function start(): OwnWorker {
    const started = startOwn(data);
    // A thread that ends by itself has no answer to any question.
    const onEnd = (error: unknown) => {
      if (worker !== started) return;
      [worker, computing] = [undefined, undefined];
      clearTimeout(limit);
      const lost = [...asked.values()];
      asked.clear();
      for (const { reject } of lost) reject(error);
    };
    started.on('message', (reply: Reply) => worker === started && onReply(reply));
    started.on('error', onEnd);
    started.on('exit', (code) => onEnd(new Error(`the thread ended with code ${code}`)));
    return started;
  }

  async function end(): Promise<void> {
    const ended = worker;
    [worker, computing] = [undefined, undefined];
    clearTimeout(limit);
    await ended?.terminate();
  }

  /** Ends the thread; the questions that somebody waits for are asked again. */
  function restart(): void {
    void end();
    for (const [id, { left, reject }] of asked)
      if (left?.aborted) {
        asked.delete(id);
        reject(new Error('nobody waits for the answer'));
      }
    if (asked.size === 0) return;
    worker = start();
    for (const [id, { question }] of asked) send({ id, question });
  }

  /** Ends one question, and the thread with it only if it computes the answer. */
  function fail(id: number, error: unknown): void {
    const found = asked.get(id);
    if (!found) return;
    asked.delete(id);
    found.reject(error);
    if (computing?.id === id) restart();
    else if (worker) send({ id, abandoned: true });
  }

  return {
    ask: async <Q extends Question>(question: Q, { ended, left }: Until) => {
      ended?.throwIfAborted();
      left?.throwIfAborted();
      const id = nextId++;
      const onEnded = () => fail(id, ended!.reason);
      const onLeft = () => {
        if (worker) send({ id, abandoned: true });
        if (computing?.id === id) limitGrace(computing);
      };
      try {
        const answered = new Promise<Reply & { readonly end: 'answered' }>((resolve, reject) =>
          asked.set(id, { question, ...(left && { left }), resolve, reject }),
        );
        worker ??= start();
        send({ id, question });
        ended?.addEventListener('abort', onEnded, { once: true });
        left?.addEventListener('abort', onLeft, { once: true });
        return (await answered).answer as AnswerTo<Q>;
      } finally {
        ended?.removeEventListener('abort', onEnded);
        left?.removeEventListener('abort', onLeft);
      }
    },
    [Symbol.asyncDispose]: end,
  };
}
