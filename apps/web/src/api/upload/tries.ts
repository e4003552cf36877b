import { asProblem, ApiProblem, isPassing } from '../problems.ts';
import { pauseMs, triesMax } from './plan-upload.ts';
import { StoreFault } from './put-part.ts';

/** The network and the time, as tries see them. */
export interface Conditions {
  readonly isOnline: () => boolean;
  /** Resolves at once when the browser is online, else when it is again. Rejects with the signal's reason. */
  readonly whenOnline: (signal: AbortSignal) => Promise<void>;
  /** Resolves after so many milliseconds. Rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
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

/** Whether the next try may do better: with a new address, once the store is back, or by a server that is well again. */
function mayPass(error: unknown): boolean {
  if (error instanceof StoreFault) return error.status !== 404 && error.code !== 'etag_hidden';
  return error instanceof ApiProblem && isPassing(asProblem(error));
}

/**
 * Tries up to five times, with growing pauses. Without a network it waits for one, and such a try is not counted.
 * @throws the last error; the first one that no other try can mend
 */
export async function withTries<T>(
  attempt: () => Promise<T>,
  { isOnline, whenOnline, wait }: Conditions,
  signal: AbortSignal,
): Promise<T> {
  let failed = 0;
  for (;;) {
    await whenOnline(signal);
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!mayPass(error)) throw error;
      if (!isOnline()) continue;
      failed += 1;
      if (failed === triesMax) throw error;
      await wait(pauseMs(failed, Math.random()), signal);
    }
  }
}
