import { sleep } from '@longwave/worker-kit';

/** Waits for what reports of a node bring. */
export interface ReportWaiters {
  /** To be called after each report. */
  check(): void;
  /** Resolves once a condition is met after a report, at once when it is met already; also when the time is over or the signal is aborted. */
  until(isMet: () => boolean, atMostMs: number, signal?: AbortSignal): Promise<void>;
}

export function createReportWaiters(): ReportWaiters {
  const waiters = new Set<{ readonly isMet: () => boolean; readonly done: () => void }>();
  return {
    check() {
      for (const { isMet, done } of waiters) if (isMet()) done();
    },
    async until(isMet, atMostMs, signal) {
      if (isMet()) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = { isMet, done: resolve };
      const over = new AbortController();
      waiters.add(waiter);
      await Promise.race([promise, sleep(atMostMs, signal ? AbortSignal.any([over.signal, signal]) : over.signal)]);
      over.abort();
      waiters.delete(waiter);
    },
  };
}
