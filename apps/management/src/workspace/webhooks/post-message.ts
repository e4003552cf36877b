import { readStart, type GuardedFetch } from '@longwave/guarded-fetch';
import { fetchFailureOf } from '../../outside/fetch-failure.ts';
import type { Attempt } from './attempt-table.ts';
import type { DeliveryProblem } from './delivery-table.ts';
import { tryParseRetryAfter } from './retry-schedule.ts';

/** For names, connection, answer and the beginning of its body together. */
const timeoutMs = 15_000;
/** Bytes of an answer that are read. */
const maxAnswerBytes = 1_024;

/** The receiver wants nothing any more. */
const goneStatus = 410;

/** What a receiver answered, as far as the sender cares. */
export interface Posted extends Omit<Attempt, 'startedAt'> {
  readonly retryAfterMs: number | undefined;
}

function problemOfStatus(status: number): DeliveryProblem | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === goneStatus) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'status';
}

/** Text that the database can hold. */
const legible = (bytes: Buffer) => bytes.toString('utf8').replaceAll('\u0000', '\uFFFD');

/** Posts one message and never throws for a receiver. It sends nothing to a redirect, and reads little of the answer. */
export const createPostMessage =
  (fetch: GuardedFetch, clock: () => Date, limitMs = timeoutMs) =>
  async (url: string, body: string, headers: Readonly<Record<string, string>>, stop: AbortSignal): Promise<Posted> => {
    const begun = performance.now();
    const took = () => Math.round(performance.now() - begun);
    const time = AbortSignal.timeout(limitMs);
    try {
      using response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, accept: '*/*' },
        content: { type: 'application/json', bytes: Buffer.from(body) },
        maxBytes: Number.MAX_SAFE_INTEGER,
        // The signal ends it first, so that a timeout is known as one.
        timeoutMs: 2 * limitMs,
        idleTimeoutMs: 2 * limitMs,
        signal: AbortSignal.any([time, stop]),
      });
      const problem = problemOfStatus(response.status);
      // A body that breaks off takes nothing from the status.
      const answer = problem && (await readStart(response, maxAnswerBytes).catch(() => undefined));
      return {
        ...{ durationMs: took(), status: response.status, problem },
        answer: answer && legible(answer),
        retryAfterMs: problem && tryParseRetryAfter(response.headers['retry-after'], clock()),
      };
    } catch (error) {
      stop.throwIfAborted();
      const problem = fetchFailureOf(error);
      return { ...{ durationMs: took(), status: undefined, problem }, answer: undefined, retryAfterMs: undefined };
    }
  };

export type PostMessage = ReturnType<typeof createPostMessage>;
