import type { ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem, type ProblemCode } from '@longwave/problems';
import { LeaseEnded, leasedWorker, type PollLoop } from '@longwave/worker-kit';
import { executeAsManagement } from './execute-as-management.ts';
import {
  claimJob,
  dropJob,
  leaseOf,
  releaseLease,
  renewLease,
  type ClaimedJob,
  type InternalJobKind,
} from './job-table.ts';

/** Commands that report to a subject that its job failed. */
type FailCommand =
  | 'batch_encoding.fail'
  | 'billing_statement.fail_documents'
  | 'billing_statement.fail_draft'
  | 'campaign.fail_clone'
  | 'content_snapshot.record_failed'
  | 'demand_source.fail_validation'
  | 'listener_erasure.fail'
  | 'makegood.fail_schedule'
  | 'platform_submission.fail'
  | 'podcast.fail_import'
  | 'podcast.fail_import_publication'
  | 'podcast.fail_import_retry'
  | 'reconciliation.fail_close'
  | 'reconciliation.fail_match'
  | 'report_run.fail'
  | 'serving_plan.fail'
  | 'statistics_export.fail'
  | 'tracking_endpoint.fail_validation';

/** How management runs the jobs of one kind. */
export interface JobHandler {
  /**
   * One attempt. It reports the end of its job by a command, and may return without one when the signal stops it. After an error the job
   * is tried again later, so every step must be repeatable.
   */
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<void>;
  /** The command and problem that report the failure after the last attempt. */
  readonly fail: {
    readonly commandType: FailCommand;
    readonly problem: { readonly code: string; readonly detail: string };
  };
  /** Attempts, including those that ended with a crash of the process. */
  readonly maxAttempts: number;
  /** Jobs of this kind that run at the same time; default 1. */
  readonly concurrency?: number;
}

/** Thrown by a handler that has recorded why its next attempt begins no earlier than this; nobody is told of an error. */
export class RetryLater extends Error {
  readonly afterMs: number;
  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

/** Milliseconds before the next attempt. */
const backOff = (attempt: number) => Math.min(15_000, 500 * 2 ** Math.min(attempt, 10));

/** Refusals that no further attempt can change: the subject has ended meanwhile. */
const staleRefusals: readonly ProblemCode[] = ['state_not_allowed', 'not_found'];
/** Refusals of what a handler sends: a fault of ours, which another attempt would only repeat. */
const faultyReports: readonly ProblemCode[] = ['validation_failed'];

/**
 * Runs management's own jobs. Each kind has its own concurrency, so that a long job never delays another kind. A job is held under a lease
 * that is renewed while it runs; after a crash another process takes it over. Disposing stops the running jobs and releases them at once.
 */
export function startJobRunner(options: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly handlers: Readonly<Partial<Record<InternalJobKind, JobHandler>>>;
  readonly onError: (error: unknown, job?: Pick<ClaimedJob, 'id' | 'kind'>) => void;
  readonly leaseMs?: number;
  /** Milliseconds between two polls; a wake-up call comes earlier. */
  readonly pollMs?: number;
  readonly backOffMs?: (attempt: number) => number;
}): PollLoop {
  const { pool, execute, onError, leaseMs = 30_000, pollMs = 1_000, backOffMs = backOff } = options;
  const handlers = new Map(Object.entries(options.handlers) as [InternalJobKind, JobHandler][]);
  const concurrencyOf = ({ concurrency = 1 }: JobHandler) => concurrency;

  async function giveUp(job: ClaimedJob, { fail }: JobHandler): Promise<void> {
    try {
      await executeAsManagement(
        execute,
        {
          workspaceId: job.workspace_id,
          idempotencyKey: `${job.id}:${job.lease_id}:fail`,
          reason: leaseOf(job),
        },
        { type: fail.commandType, id: job.subject_id, changes: { problem: fail.problem } },
      );
    } catch (error) {
      if (!isProblem(error, ...staleRefusals, ...faultyReports)) throw error;
      if (isProblem(error, ...faultyReports)) onError(error, job);
      await dropJob(pool, job.id, job.lease_id);
    }
  }

  async function attempt(job: ClaimedJob, handler: JobHandler, signal: AbortSignal): Promise<void> {
    if (job.attempt > handler.maxAttempts) return await giveUp(job, handler);
    try {
      await handler.run(job, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (isProblem(error, 'lease_lost')) return;
      if (!isProblem(error, ...staleRefusals, ...faultyReports)) throw error;
      if (isProblem(error, ...faultyReports)) onError(error, job);
      await giveUp(job, handler);
    } finally {
      if (isShutdown(signal)) await releaseLease(pool, job.id, job.lease_id, { uncounted: true });
    }
  }

  return leasedWorker<ClaimedJob>({
    concurrency: [...handlers.values()].reduce((sum, handler) => sum + concurrencyOf(handler), 0),
    pollMs,
    claim: async (_signal, running) => {
      const runs = (kind: InternalJobKind) => running.filter((job) => job.kind === kind).length;
      const free = [...handlers].filter(([kind, handler]) => runs(kind) < concurrencyOf(handler)).map(([kind]) => kind);
      return free.length > 0 ? await claimJob(pool, free, 'management', leaseMs) : undefined;
    },
    leaseOf: (job) => ({ leaseMs, renew: () => renewLease(pool, job.id, job.lease_id, leaseMs) }),
    traceOf: ({ kind, traceparent }) => ({ kind, traceparent: traceparent ?? undefined }),
    work: async (job, signal) => {
      try {
        await attempt(job, handlers.get(job.kind as InternalJobKind)!, signal);
      } catch (error) {
        // Its handler has recorded why it waits.
        if (!(error instanceof RetryLater)) onError(error, job);
        // Without a database the lease ends by itself.
        const afterMs = Math.max(backOffMs(job.attempt), error instanceof RetryLater ? error.afterMs : 0);
        await releaseLease(pool, job.id, job.lease_id, { afterMs }).catch(onError);
      }
    },
    onError,
  });
}

const isShutdown = ({ reason }: AbortSignal) => reason instanceof LeaseEnded && reason.reason === 'shutdown';
