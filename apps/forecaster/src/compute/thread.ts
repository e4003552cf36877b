import { Worker } from 'node:worker_threads';
import type { AnswerTo, Question, Reply, ThreadData } from './question.ts';

/** A thread that answers one question after the other. */
export interface ComputeThread extends AsyncDisposable {
  /**
   * Rejects with the reason of the signal when it is aborted: the thread is then ended, and another one takes the next question.
   * @param left aborted before its turn: the question is not begun
   */
  ask<Q extends Question>(question: Q, signal: AbortSignal, left?: AbortSignal): Promise<AnswerTo<Q>>;
}

/** Beside the bundle, or beside the folder of this file. */
const entry = import.meta.url.endsWith('.ts') ? '../compute-thread.ts' : './compute-thread.js';

/** Starts a thread with the first question; it keeps what it has read for the next one. */
export function createComputeThread(data: ThreadData): ComputeThread {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function end(): Promise<void> {
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  function askNow<Q extends Question>(question: Q, signal: AbortSignal): Promise<AnswerTo<Q>> {
    signal.throwIfAborted();
    worker ??= new Worker(new URL(entry, import.meta.url), { workerData: data });
    const asked = worker;
    return new Promise<AnswerTo<Q>>((resolve, reject) => {
      const settle = (then: () => void) => {
        signal.removeEventListener('abort', onAbort);
        asked.removeAllListeners('message').removeAllListeners('error').removeAllListeners('exit');
        // A thread without listeners would end the process by its next error.
        asked.on('error', () => undefined);
        then();
      };
      const fail = (error: unknown) => {
        settle(() => reject(error instanceof Error ? error : new Error(String(error))));
        if (worker === asked) void end();
      };
      const onAbort = () => fail(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      asked.on('message', (reply: Reply) =>
        settle(() => (reply.ok ? resolve(reply.answer as AnswerTo<Q>) : reject(new Error(reply.message)))),
      );
      asked.on('error', fail);
      asked.on('exit', (code) => fail(new Error(`the thread ended with code ${code}`)));
      asked.postMessage(question);
    });
  }

  return {
    ask: (question, signal, left) => {
      const begin = () => {
        left?.throwIfAborted();
        return askNow(question, signal);
      };
      const answered = last.then(begin, begin);
      last = answered;
      return answered;
    },
    [Symbol.asyncDispose]: end,
  };
}
