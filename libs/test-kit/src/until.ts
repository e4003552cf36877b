import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions<T> {
  /** Whether the answer is the awaited one. Default: it is neither `undefined` nor `false`. */
  readonly holds?: (answer: T) => boolean;
  /** Default: a minute, which is long also for a busy machine. */
  readonly timeoutMs?: number;
  /** An error is no answer either, as of a service that is starting. Default: it ends the waiting. */
  readonly despiteErrors?: boolean;
}

type Ask<T> = () => Promise<T> | T;
type Answer<T> = Exclude<T, undefined | false>;

const isThere = (answer: unknown) => answer !== undefined && answer !== false;

/** Pauses grow with the time that was waited: what comes soon is seen soon, and what takes long is not asked for all the time. */
const pauseMs = (waitedMs: number) => Math.min(100, waitedMs / 10);

/**
 * Asks again until the answer is the awaited one, and answers it.
 * @param what what is awaited, as the subject of “did not happen”; without it, the code of the question
 * @throws an error that names it, the time, and the last answer when there was one
 */
export function until<T>(what: string, ask: Ask<T>, options?: UntilOptions<T>): Promise<Answer<T>>;
export function until<T>(ask: Ask<T>, options?: UntilOptions<T>): Promise<Answer<T>>;
export function until<T>(
  ...given: [what: string, ask: Ask<T>, options?: UntilOptions<T>] | [ask: Ask<T>, options?: UntilOptions<T>]
): Promise<Answer<T>> {
  if (typeof given[0] === 'string') {
    const [what, ask, options] = given as [string, Ask<T>, UntilOptions<T>?];
    return waitFor(what, ask, options);
  }
  const [ask, options] = given as [Ask<T>, UntilOptions<T>?];
  return waitFor([ask, options?.holds].filter(Boolean).join(' with '), ask, options);
}

async function waitFor<T>(
  what: string,
  ask: Ask<T>,
  { holds = isThere, timeoutMs = 60_000, despiteErrors = false }: UntilOptions<T> = {},
): Promise<Answer<T>> {
  const startedMs = performance.now();
  for (;;) {
    let last = '';
    let cause: unknown;
    try {
      const answer = await ask();
      if (holds(answer)) return answer as Answer<T>;
      if (isThere(answer)) last = `; the last answer was ${inspect(answer, { depth: 6 }).slice(0, 2_000)}`;
    } catch (error) {
      if (!despiteErrors) throw error;
      last = '; the last attempt failed';
      cause = error;
    }
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= timeoutMs) throw new Error(`${what} did not happen within ${timeoutMs / 1000} s${last}`, { cause });
    await pause(pauseMs(waitedMs));
  }
}
