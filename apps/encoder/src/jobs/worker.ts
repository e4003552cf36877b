/** Asks for work as long as it has a free slot. */
export interface Worker {
  /** Ask now rather than at the next poll. */
  wake(): void;
  /** Ends the work in hand and resolves when all of it has ended. */
  close(): Promise<void>;
}

/**
 * Keeps up to `concurrency` jobs running: claims until there is none, then waits for a wake or `pollMs`.
 * Neither `claim` failing nor `work` failing stops it; both are told to `onError`.
 */
export function startWorker<J>(options: {
  readonly concurrency: number;
  readonly pollMs: number;
  readonly claim: (signal: AbortSignal) => Promise<J | undefined>;
  readonly work: (job: J, signal: AbortSignal) => Promise<unknown>;
  readonly onError: (error: unknown, during: 'claim' | 'work') => void;
}): Worker {
  const shutdown = new AbortController();
  const running = new Set<Promise<void>>();
  let woken = false;
  let rouse = () => {};
  const wake = () => {
    woken = true;
    rouse();
  };
  const rest = () =>
    new Promise<void>((resolve) => {
      if (woken || shutdown.signal.aborted) return resolve();
      const timer = setTimeout(resolve, options.pollMs);
      rouse = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const claim = async () => {
    try {
      return await options.claim(shutdown.signal);
    } catch (error) {
      if (!shutdown.signal.aborted) options.onError(error, 'claim');
      return undefined;
    }
  };
  const loop = async () => {
    while (!shutdown.signal.aborted) {
      woken = false;
      const job = running.size < options.concurrency ? await claim() : undefined;
      if (job === undefined) {
        await rest();
        continue;
      }
      const task = options
        .work(job, shutdown.signal)
        .then(
          () => undefined,
          (error: unknown) => options.onError(error, 'work'),
        )
        .finally(() => {
          running.delete(task);
          wake();
        });
      running.add(task);
    }
  };
  const looping = loop();
  return {
    wake,
    close: async () => {
      shutdown.abort();
      rouse();
      await looping;
      await Promise.all(running);
    },
  };
}
