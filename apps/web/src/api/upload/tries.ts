import { asProblem, ApiProblem, isPassing } from '../problems.ts';
import { pauseMs } from './plan-upload.ts';
import { isGone, StoreFault } from './put-part.ts';

/** The network and the time, as tries see them. */
export interface Conditions {
  readonly isOnline: () => boolean;
  /** Resolves at once when the browser is online, else when it is again. Rejects with the signal's reason. */
  readonly whenOnline: (signal: AbortSignal) => Promise<void>;
  /**
   * Resolves after so many milliseconds. Rejects with the signal's reason.
   * @param cause what failed before
   */
  readonly wait: (ms: number, signal: AbortSignal, cause: unknown) => Promise<void>;
}

const waitFor = (signal: AbortSignal, begin: (resolve: () => void, once: AbortSignal) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const over = new AbortController();
    const end = (settle: () => void) => {
      over.abort();
      settle();
    };
    signal.addEventListener('abort', () => end(() => reject(signal.reason)), { signal: over.signal });
    begin(() => end(resolve), over.signal);
  });

/** The conditions of a browser. */
export const browserConditions: Conditions = {
  isOnline: () => navigator.onLine,
  whenOnline: (signal) =>
    navigator.onLine
      ? Promise.resolve()
      : waitFor(signal, (resolve, once) => addEventListener('online', resolve, { signal: once })),
  wait: (ms, signal) =>
    waitFor(signal, (resolve, once) => {
      const timer = setTimeout(resolve, ms);
      once.addEventListener('abort', () => clearTimeout(timer));
    }),
};

/** How long failures of one request are borne. */
export interface Patience {
  /** Refusals after which it is given up: the store or the server answered, and another address did not help. */
  readonly refusals: number;
  /** Outages after which it is given up: no answer came, or one that says that the other side is not well. */
  readonly outages: number;
}

/** For what goes on by itself: an outage ends some day, and nothing is lost by waiting for that. */
export const untilItIsBack: Patience = { refusals: 5, outages: Number.POSITIVE_INFINITY };
/** For what a person waits for, and can try again. */
export const whileSomebodyWaits: Patience = { refusals: 5, outages: 5 };

/**
 * What a failure is. `outages`: nothing came, or the other side says that it is not well, which passes by itself. `refusals`: another address may do
 * better. `end`: no other try can.
 */
function kindOf(error: unknown): keyof Patience | 'end' {
  if (error instanceof ApiProblem) return isPassing(asProblem(error)) ? 'outages' : 'end';
  if (!(error instanceof StoreFault) || isGone(error) || error.code === 'etag_hidden') return 'end';
  return isPassing({ status: error.status, slug: undefined }) ? 'outages' : 'refusals';
}

/**
 * Tries with growing pauses until it succeeds, or `patience` is at its end. Failures are counted for each request alone, so how many requests share an
 * outage does not matter. Without a network it waits for one, and such a try is not counted.
 * @throws the last error; the first one that no other try can mend
 */
export async function withTries<T>(
  attempt: () => Promise<T>,
  { isOnline, whenOnline, wait }: Conditions,
  { signal, patience }: { readonly signal: AbortSignal; readonly patience: Patience },
): Promise<T> {
  const failed = { refusals: 0, outages: 0 };
  for (;;) {
    await whenOnline(signal);
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const kind = kindOf(error);
      if (kind === 'end') throw error;
      if (!isOnline()) continue;
      failed[kind] += 1;
      if (failed[kind] === patience[kind]) throw error;
      await wait(pauseMs(failed.refusals + failed.outages, Math.random()), signal, error);
    }
  }
}
