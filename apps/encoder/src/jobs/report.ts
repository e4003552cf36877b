import type { ChangesInput, MachineCommand } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { CommandServiceService } from '@longwave/rpc/command';
import type { Job } from '@longwave/rpc/job';
import { sleep } from '@longwave/worker-kit';

export type CommandClient = RpcClient<typeof CommandServiceService>;

/** Commands that report what was made. */
type CompleteCommand =
  | 'production.complete'
  | 'production.record_track'
  | 'creative.record_media'
  | 'creative.record_tracks'
  | 'creative.record_pictures'
  | 'podcast.record_intro'
  | 'podcast.record_outro';

/** Commands that report why nothing was made. */
type FailCommand =
  | 'production.fail'
  | 'production.fail_track'
  | 'creative.fail_media'
  | 'creative.fail_tracks'
  | 'creative.fail_pictures'
  | 'podcast.fail_intro'
  | 'podcast.fail_outro';

/** The end of a job as its command. */
interface Report<C extends MachineCommand<'encoder'>> {
  readonly commandType: C;
  readonly changes: ChangesInput<C>;
}

/** The command that reports what the encoder made. */
export type Completion = { [C in CompleteCommand]: Report<C> }[CompleteCommand];

/** Why nothing was made, as the command that reports it. */
export type Failure = { [C in FailCommand]: Report<C> }[FailCommand];

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
 */
export async function reportByCommand(
  client: CommandClient,
  job: Job,
  verdict: 'complete' | 'fail',
  report: Completion | Failure,
  lease: AbortSignal,
): Promise<ReportOutcome> {
  const request = {
    workspaceId: job.workspaceId,
    commandType: report.commandType,
    idempotencyKey: `${job.jobId}:${job.leaseId}:${verdict}`,
    ifMatch: '',
    subjectType: job.subjectType,
    subjectId: job.subjectId,
    subjectVersion: undefined,
    changesJson: JSON.stringify(report.changes),
    reasonJson: JSON.stringify({ lease_id: job.leaseId, job_id: job.jobId }),
  };
  for (let delayMs = 200; ; delayMs = Math.min(5_000, delayMs * 2)) {
    try {
      await client.execute(request, { deadlineMs: 10_000 });
      return { kind: 'accepted' };
    } catch (error) {
      if (error instanceof Problem && !transient.has(error.code)) return { kind: 'refused', problem: error };
      if (lease.aborted) return { kind: 'unknown' };
      await sleep(delayMs, lease);
    }
  }
}
