import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions<T> {
  /** Whether the answer is the awaited one. Default: it is neither `undefined` nor `false`. */
  readonly holds?: (answer: T) => boolean;
  /** Default: a minute, which is long also for a busy machine. */
  readonly timeoutMs?: number;
}

const isThere = (answer: unknown) => answer !== undefined && answer !== false;

/** Pauses grow with the time that was waited: what comes soon is seen soon, and what takes long is not asked for all the time. */
const pauseMs = (waitedMs: number) => Math.min(100, waitedMs / 10);

/**
 * Asks again until the answer is the awaited one, and answers it. What `ask` throws ends the waiting.
 * @param what what is awaited, as the subject of “did not happen”: “the end of the encoding”
 * @throws an error that names it, the time, and the last answer when there was one
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  { holds = isThere, timeoutMs = 60_000 }: UntilOptions<T> = {},
): Promise<Exclude<T, undefined | false>> {
  const startedMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer as Exclude<T, undefined | false>;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= timeoutMs) {
      const last = isThere(answer) ? `; the last answer was ${inspect(answer, { depth: 6 }).slice(0, 2_000)}` : '';
      throw new Error(`${what} did not happen within ${timeoutMs / 1000} s${last}`);
    }
    await pause(pauseMs(waitedMs));
  }
}
