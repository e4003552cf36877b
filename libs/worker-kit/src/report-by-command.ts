import { Problem } from '@longwave/problems';
import { sleep } from './sleep.ts';

/** A job as its report names it. */
interface ReportedJob {
  readonly jobId: string;
  readonly leaseId: string;
  readonly workspaceId: string;
  readonly subjectType: string;
  readonly subjectId: string;
}

/** The request of management's `CommandService.Execute`. */
interface ExecuteRequest {
  readonly workspaceId: string;
  readonly commandType: string;
  readonly idempotencyKey: string;
  readonly ifMatch: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly subjectVersion: undefined;
  readonly changesJson: string;
  readonly reasonJson: string;
}

/** `unknown`: management did not answer before the lease ended; it may or may not have the report. */
export type ReportOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly problem: Problem }
  | { readonly kind: 'unknown' };

/** Temporary refusals: the same report, under the same key, may be accepted later. */
const transient: ReadonlySet<string> = new Set([
  'temporarily_unavailable',
  'timeout',
  'internal_error',
  'rate_limited',
  'idempotency_in_progress',
]);

/**
 * Reports by command, again and again with back-off while the lease is held. The call itself is never cancelled: a lease that
 * ends because this very report was accepted must not hide the answer.
 * @param step names the report among those of one lease
 */
export async function reportByCommand(
  execute: (request: ExecuteRequest, options: { readonly deadlineMs: number }) => Promise<unknown>,
  job: ReportedJob,
  step: string,
  report: { readonly commandType: string; readonly changes: unknown },
  lease: AbortSignal,
): Promise<ReportOutcome> {
  const request = {
    workspaceId: job.workspaceId,
    commandType: report.commandType,
    idempotencyKey: `${job.jobId}:${job.leaseId}:${step}`,
    ifMatch: '',
    subjectType: job.subjectType,
    subjectId: job.subjectId,
    subjectVersion: undefined,
    changesJson: JSON.stringify(report.changes),
    reasonJson: JSON.stringify({ lease_id: job.leaseId, job_id: job.jobId }),
  };
  for (let delayMs = 200; ; delayMs = Math.min(5_000, delayMs * 2)) {
    try {
      await execute(request, { deadlineMs: 10_000 });
      return { kind: 'accepted' };
    } catch (error) {
      if (error instanceof Problem && !transient.has(error.code)) return { kind: 'refused', problem: error };
      if (lease.aborted) return { kind: 'unknown' };
      await sleep(delayMs, lease);
    }
  }
}
