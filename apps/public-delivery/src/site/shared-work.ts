import { Problem } from '@longwave/problems';

interface Shared<T> {
  readonly result: Promise<T>;
  readonly abandoned: AbortController;
  waiting: number;
}

/**
 * Runs work under a key, once for all that ask for the key while it runs. `leaving` aborts when one of them does not wait any more, and the
 * signal that `work` is given when none of them does. Rejects with `temporarily_unavailable` while there are too many keys.
 */
export type ShareWork<T> = (
  key: string,
  work: (abandoned: AbortSignal) => Promise<T>,
  leaving: AbortSignal,
) => Promise<T>;

/** A refusal under too great a load, which is no error. */
export const comeAgain = () => new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });

/** @param maxKeys under which work runs or waits at a time */
export function createSharedWork<T>(maxKeys: number): ShareWork<T> {
  const running = new Map<string, Shared<T>>();

  function start(key: string, work: (abandoned: AbortSignal) => Promise<T>): Shared<T> {
    if (running.size >= maxKeys) throw comeAgain();
    const abandoned = new AbortController();
    const result = work(abandoned.signal).finally(() => running.delete(key));
    const shared = { result, abandoned, waiting: 0 };
    running.set(key, shared);
    return shared;
  }

  return async (key, work, leaving) => {
    leaving.throwIfAborted();
    const shared = running.get(key) ?? start(key, work);
    shared.waiting++;
    const leave = () => {
      if (--shared.waiting === 0) shared.abandoned.abort(comeAgain());
    };
    leaving.addEventListener('abort', leave, { once: true });
    return shared.result.finally(() => leaving.removeEventListener('abort', leave));
  };
}
