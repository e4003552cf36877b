import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Redis } from 'ioredis';
import type { Job } from '@longwave/rpc/job';
import type { Logger } from '@longwave/service-kit';
import { LeaseEnded, reportByCommand } from '@longwave/worker-kit';
import { MediaFault } from '../media/media-fault.ts';
import { failureOf, parseJobInput } from './job-input.ts';
import { makeMedia, type MediaDeps } from './make-media.ts';
import { createProgress, type ProgressReporter } from './progress.ts';
import type { CommandClient, Completion, Failure } from './report.ts';

export interface JobDeps extends MediaDeps {
  readonly redis: Redis;
  readonly commands: CommandClient;
  /** Folder of this process; each job works in one of its own inside. */
  readonly workFolder: string;
  readonly logger: Logger;
}

/** The end of one try at a job. `retry` lets the lease expire, so that another try takes the job. */
export type JobEnd = 'completed' | 'failed' | 'refused' | 'unknown' | 'retry' | 'stopped' | 'lost' | 'shutdown';

const maxAttempts = 5;
const silent: ProgressReporter = {
  report: () => undefined,
  finish: async () => undefined,
  clear: async () => undefined,
};
const gaveUp = () =>
  new MediaFault(
    'encoder_failed',
    'The file could not be encoded because of a fault on our side. Start the encoding again.',
  );

/**
 * One try at a leased job: download, encode, store, report. A file at fault is reported at once, a failure of ours after the
 * fifth try. Leaves no temporary file; a stored blob that is not reported stays (stored-blobs.ts says why).
 * @param signal aborted with a `LeaseEnded` when the lease has ended
 */
export async function workOnJob(job: Job, deps: JobDeps, signal: AbortSignal): Promise<JobEnd> {
  const onLostTick = (error: unknown) => deps.logger.debug({ err: error, job_id: job.jobId }, 'progress.not_published');
  const track = trackOf(job);
  const progress =
    track !== undefined || job.kind === 'encode_production'
      ? createProgress(deps.redis, job.subjectId, onLostTick, track)
      : silent;
  let end: JobEnd = 'retry';
  try {
    end = await tryJob(job, deps, progress, signal);
  } catch (error) {
    if (error instanceof LeaseEnded) end = error.reason;
    else deps.logger.error({ err: error, job_id: job.jobId, attempt: job.attempt }, 'job.try_failed');
  }
  // A track that is made again begins at 0, not with the end of the last time.
  if (end === 'completed' && track === undefined) await progress.finish();
  else await progress.clear();
  deps.logger.info(
    { job_id: job.jobId, kind: job.kind, subject_id: job.subjectId, attempt: job.attempt, end },
    'job.ended',
  );
  return end;
}

/** The track of a production that a job makes. */
function trackOf({ kind, inputJson }: Job): string | undefined {
  if (kind === 'encode_hls_audio') return 'a192';
  if (kind !== 'encode_hls_video') return undefined;
  try {
    const input = parseJobInput(kind, inputJson);
    return 'track' in input ? input.track : undefined;
  } catch {
    // The try at the job says it.
    return undefined;
  }
}

async function tryJob(job: Job, deps: JobDeps, progress: ProgressReporter, signal: AbortSignal): Promise<JobEnd> {
  const input = parseJobInput(job.kind, job.inputJson);
  const report = async (verdict: 'complete' | 'fail', command: Completion | Failure): Promise<JobEnd> => {
    const outcome = await reportByCommand(deps.commands.execute, job, verdict, command, signal);
    if (outcome.kind === 'accepted') return verdict === 'complete' ? 'completed' : 'failed';
    if (outcome.kind === 'refused')
      deps.logger.warn({ job_id: job.jobId, code: outcome.problem.code }, 'job.report_refused');
    return outcome.kind;
  };
  const folder = path.join(deps.workFolder, job.leaseId.replaceAll(/[^\w-]/g, '_'));
  let made: Completion;
  try {
    // Five tries that reported nothing have killed their process.
    if (job.attempt > maxAttempts) throw gaveUp();
    made = await makeMedia(input, deps, folder, progress, signal);
    signal.throwIfAborted();
  } catch (error) {
    if (error instanceof LeaseEnded || signal.aborted) throw signal.reason ?? error;
    const final = error instanceof MediaFault ? error : job.attempt >= maxAttempts ? gaveUp() : undefined;
    if (!final) throw error;
    if (final !== error) deps.logger.error({ err: error, job_id: job.jobId, attempt: job.attempt }, 'job.given_up');
    const problem = { code: final.code, detail: final.message };
    return await report('fail', failureOf(input, problem));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report('complete', made);
}
