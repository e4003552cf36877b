import { Worker } from 'node:worker_threads';
import type { AnswerTo, Question, Reply, Request, ThreadData } from './question.ts';

/** A thread that reads for several questions at a time and computes for one after the other. */
export interface ComputeThread extends AsyncDisposable {
  /**
   * Rejects with the reason of the signal when it is aborted: the thread is then ended, and another one takes the other questions.
   * @param left aborted when nobody waits for the answer any more: what is being read is kept, and nothing is computed from it
   */
  ask<Q extends Question>(question: Q, signal: AbortSignal, left?: AbortSignal): Promise<AnswerTo<Q>>;
}

/** Beside the bundle, or beside the folder of this file. */
const entry = import.meta.url.endsWith('.ts') ? '../compute-thread.ts' : './compute-thread.js';
/** So long a thread may go on computing for nobody before it is ended, with all that it has read. */
const graceMs = 2_000;

interface Asked {
  readonly question: Question;
  readonly left: AbortSignal | undefined;
  readonly resolve: (answer: Reply & { readonly end: 'answered' }) => void;
  readonly reject: (error: unknown) => void;
}

/** Starts a thread with the first question; it keeps what it has read for the next one. */
export function createComputeThread(data: ThreadData): ComputeThread {
  let worker: Worker | undefined;
  let nextId = 0;
  let computing: number | undefined;
  let grace: NodeJS.Timeout | undefined;
  const asked = new Map<number, Asked>();
  const send = (request: Request) => worker!.postMessage(request);

  /** Ends the thread if it goes on with a question that nobody waits for. */
  function watch(id: number): void {
    clearTimeout(grace);
    grace = setTimeout(() => computing === id && fail(id, new Error('nobody waited for the answer')), graceMs);
  }

  function onReply(reply: Reply): void {
    const found = asked.get(reply.id);
    if (!found) return;
    if (reply.end === 'begun') {
      computing = reply.id;
      if (found.left?.aborted) watch(reply.id);
      return;
    }
    if (computing === reply.id) computing = undefined;
    asked.delete(reply.id);
    if (reply.end === 'answered') found.resolve(reply);
    else found.reject(new Error(reply.message));
  }

  function start(): Worker {
    const started = new Worker(new URL(entry, import.meta.url), { workerData: data });
    // A thread that ends by itself has no answer to any question.
    const onEnd = (error: unknown) => {
      if (worker !== started) return;
      [worker, computing] = [undefined, undefined];
      const lost = [...asked.values()];
      asked.clear();
      for (const { reject } of lost) reject(error);
    };
    started.on('message', onReply);
    started.on('error', onEnd);
    started.on('exit', (code) => onEnd(new Error(`the thread ended with code ${code}`)));
    return started;
  }

  async function end(): Promise<void> {
    const ended = worker;
    [worker, computing] = [undefined, undefined];
    clearTimeout(grace);
    await ended?.terminate();
  }

  /** Ends the thread for one question; the others are asked again. */
  function fail(id: number, error: unknown): void {
    const found = asked.get(id);
    if (!found) return;
    asked.delete(id);
    found.reject(error);
    void end();
    if (asked.size === 0) return;
    worker = start();
    for (const [other, { question }] of asked) send({ id: other, question });
  }

  return {
    ask: async <Q extends Question>(question: Q, signal: AbortSignal, left?: AbortSignal) => {
      signal.throwIfAborted();
      left?.throwIfAborted();
      const id = nextId++;
      const onAbort = () => fail(id, signal.reason);
      const onLeft = () => {
        if (worker) send({ id, abandoned: true });
        if (computing === id) watch(id);
      };
      try {
        const answered = new Promise<Reply & { readonly end: 'answered' }>((resolve, reject) =>
          asked.set(id, { question, left, resolve, reject }),
        );
        worker ??= start();
        send({ id, question });
        signal.addEventListener('abort', onAbort, { once: true });
        left?.addEventListener('abort', onLeft, { once: true });
        return (await answered).answer as AnswerTo<Q>;
      } finally {
        signal.removeEventListener('abort', onAbort);
        left?.removeEventListener('abort', onLeft);
      }
    },
    [Symbol.asyncDispose]: end,
  };
}
