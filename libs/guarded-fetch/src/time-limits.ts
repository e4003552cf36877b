import { Problem } from '@longwave/problems';

/** The two time limits of one exchange: for the whole, and for each wait for the host. */
export interface TimeLimits {
  /** Aborts with the problem of the limit that ran out, or with the caller's own reason. */
  readonly signal: AbortSignal;
  /** Waits for the host, with the idle clock running. */
  within<T>(wait: Promise<T>): Promise<T>;
  end(): void;
}

export function startTimeLimits(timeoutMs: number, idleMs: number, outer?: AbortSignal): TimeLimits {
  const clock = new AbortController();
  const signal = outer ? AbortSignal.any([clock.signal, outer]) : clock.signal;
  const stop = (detail: string) => () => clock.abort(new Problem('media_not_fetchable', detail));
  const total = setTimeout(stop('The host takes too long to send the file. Try again later.'), timeoutMs);

  return {
    signal,
    within: async (wait) => {
      // A wait that loses the race must not end as an unhandled rejection.
      wait.catch(() => undefined);
      signal.throwIfAborted();
      const idle = setTimeout(stop('The host does not answer. Try again later.'), idleMs);
      const aborted = Promise.withResolvers<never>();
      const abort = () => aborted.reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      try {
        return await Promise.race([wait, aborted.promise]);
      } finally {
        clearTimeout(idle);
        signal.removeEventListener('abort', abort);
      }
    },
    end: () => clearTimeout(total),
  };
}
