import { SpanKind } from '@opentelemetry/api';
import { continueTrace, type TracePosition } from '@longwave/service-kit';
import { keepLease, type LeaseTerms } from './keep-lease.ts';
import { pollLoop, type PollLoop } from './poll-loop.ts';

export interface LeasedWorkerOptions<J> {
  /** Jobs that run at a time. */
  readonly concurrency: number;
  /** How long a job that nobody announced by `wake` may go unnoticed. */
  readonly pollMs: number;
  /**
   * Takes the next job under a lease; undefined when there is none.
   * @param running the jobs in hand, for a claim that depends on them
   */
  readonly claim: (signal: AbortSignal, running: readonly J[]) => Promise<J | undefined>;
  readonly leaseOf: (job: J) => LeaseTerms;
  /** The kind of a job, as spans name it, and where in a trace it was queued. Work on a job that is part of no trace makes no span. */
  readonly traceOf?: (job: J) => { readonly kind: string; readonly traceparent: TracePosition | undefined };
  /**
   * Does one job.
   * @param signal aborted with a `LeaseEnded` when the lease has ended or the worker is disposed
   */
  readonly work: (job: J, signal: AbortSignal) => Promise<unknown>;
  /** Receives the errors of `work` with its job, and those of `claim` without one. */
  readonly onError: (error: unknown, job?: J) => void;
}

/** A queue of jobs is a messaging system to those who look at spans. */
const spanOf = (kind: string) => ({
  kind: SpanKind.CONSUMER,
  attributes: {
    'messaging.system': 'longwave_jobs',
    'messaging.destination.name': kind,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
  },
});

/**
 * Keeps up to `concurrency` jobs running, each under a lease that is renewed while the work goes on: claims until there is none,
 * then sleeps until a wake, the end of a job or `pollMs`. Neither a claim nor work that fails stops it. Disposing aborts the work in
 * hand and waits for its end.
 */
export function leasedWorker<J>(options: LeasedWorkerOptions<J>): PollLoop {
  const { concurrency, pollMs, claim, leaseOf, traceOf, work, onError } = options;
  const shutdown = new AbortController();
  const running = new Map<J, Promise<void>>();

  async function workUnderLease(job: J): Promise<void> {
    try {
      await using lease = keepLease(leaseOf(job), shutdown.signal);
      const { kind = '', traceparent } = traceOf?.(job) ?? {};
      await continueTrace(traceparent, `process ${kind}`, spanOf(kind), () => work(job, lease.signal));
    } catch (error) {
      onError(error, job);
    }
    running.delete(job);
    claiming.wake();
  }

  const claiming = pollLoop({
    everyMs: pollMs,
    run: async (signal) => {
      if (running.size >= concurrency) return false;
      const job = await claim(signal, [...running.keys()]);
      if (job !== undefined) running.set(job, workUnderLease(job));
      return job !== undefined;
    },
    onError: (error) => onError(error),
  });
  return {
    wake: claiming.wake,
    [Symbol.asyncDispose]: async () => {
      shutdown.abort();
      await claiming[Symbol.asyncDispose]();
      await Promise.all(running.values());
    },
  };
}
