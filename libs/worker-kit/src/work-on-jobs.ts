import { hostname } from 'node:os';
import type { RpcClient } from '@longwave/rpc';
import type { Job, JobServiceService } from '@longwave/rpc/job';
import type { Logger } from '@longwave/service-kit';
import { jobsChannel } from '@longwave/services';
import { leasedWorker } from './leased-worker.ts';
import { openSubscriber } from './open-subscriber.ts';

/** Management publishes on a channel after a job is committed; a worker that misses the call finds the job at its next poll. */
const pollMs = 2_000;
const maxClaimMs = 5_000;
const maxRenewalMs = 2_000;

/** Jobs that run at a time. */
export interface JobSlots {
  readonly concurrency: number;
  /** Of the next job; none while there is no room for one. Work begins again at the next poll when it rejects. */
  readonly kinds: (running: readonly Job[]) => Promise<readonly string[]>;
  /** The longest job that they take, by what management expects. */
  readonly maxExpectedMs?: number;
  /** @param signal aborted when the lease has ended, or at disposal */
  readonly work: (job: Job, signal: AbortSignal) => Promise<unknown>;
}

export interface JobWorkOptions {
  /** Of the service, as Redis and management are told. */
  readonly name: string;
  readonly jobs: Pick<RpcClient<typeof JobServiceService>, 'claimJob' | 'renewLease'>;
  readonly redisUrl: () => string;
  readonly logger: Logger;
}

/** Works on jobs of management, as soon as it announces them. Disposing aborts the work in hand and waits for its end. */
export function workOnJobs(slots: readonly JobSlots[], options: JobWorkOptions): AsyncDisposable {
  const { name, jobs, redisUrl, logger } = options;
  const workerId = `${hostname()}:${process.pid}`;
  const workers = slots.map(({ concurrency, kinds, maxExpectedMs, work }) =>
    leasedWorker<Job>({
      concurrency,
      pollMs,
      claim: async (signal, running) => {
        const claimable = await kinds(running);
        if (claimable.length === 0) return undefined;
        const request = { workerId, kinds: [...claimable], maxExpectedMs };
        return (await jobs.claimJob(request, { deadlineMs: maxClaimMs, signal })).job;
      },
      leaseOf: ({ jobId, leaseId, leaseMs }) => ({
        leaseMs,
        renew: (signal) => jobs.renewLease({ jobId, leaseId }, { deadlineMs: maxRenewalMs, signal }),
      }),
      traceOf: ({ kind, traceparent }) => ({ kind, traceparent }),
      work,
      onError: (error, job) => logger.warn({ err: error }, job ? 'job.work_failed' : 'job.claim_failed'),
    }),
  );
  const onError = (error: unknown) => logger.warn({ err: error }, 'redis.unavailable');
  const wakeups = openSubscriber(redisUrl, { connectionName: `${name}-wakeups`, onError });
  wakeups.on('message', () => workers.forEach((worker) => worker.wake()));
  wakeups.subscribe(jobsChannel).catch(onError);
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
      wakeups.disconnect();
    },
  };
}
