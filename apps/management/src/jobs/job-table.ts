import { newId } from '@longwave/ids';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';

export type JobKind =
  | 'encode_production'
  | 'encode_creative'
  | 'encode_segment'
  | 'compile_serving_plan'
  | 'clone_campaign'
  | 'import_feed'
  | 'run_batch_encoding'
  | 'export_statistics';

export interface NewJob {
  readonly kind: JobKind;
  readonly workspaceId: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly subjectVersion: number;
  readonly input: unknown;
  readonly now: Date;
}

export interface ClaimedJob {
  readonly id: string;
  readonly lease_id: string;
  readonly kind: JobKind;
  readonly workspace_id: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly subject_version: number;
  readonly attempt: number;
  readonly input: unknown;
}

/** Which job a worker reports about, and under which lease. */
export interface LeaseReport {
  readonly job_id: string;
  readonly lease_id: string;
}

/** Queues a job in the transaction of the command that asks for it. */
export async function insertJob(tx: Transaction, job: NewJob): Promise<void> {
  await tx.query(
    `insert into job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at)
     values ($1, $2, $3, $4, $5, $6, 'queued', $7, $8)`,
    [newId('job'), job.kind, job.workspaceId, job.subjectType, job.subjectId, job.subjectVersion, job.input, job.now],
  );
}

/**
 * Claims the oldest free job, from the workspace with the fewest running ones first; undefined when there is none.
 * A job is free when it is queued or its lease has ended.
 */
export async function claimJob(
  pool: Pool,
  kinds: readonly string[],
  workerId: string,
  leaseMs: number,
): Promise<ClaimedJob | undefined> {
  const { rows } = await pool.query<ClaimedJob>({
    name: 'claim_job',
    text: `with running as (
             select workspace_id, count(*) as n from job where state = 'running' and lease_until > now() group by workspace_id
           ), free as (
             select j.id from job j left join running r on r.workspace_id = j.workspace_id
             where j.kind = any($1) and (j.state = 'queued' or (j.state = 'running' and j.lease_until <= now()))
             order by coalesce(r.n, 0), j.created_at, j.id limit 1 for update of j skip locked
           )
           update job set state = 'running', lease_id = $2, worker_id = $3, lease_until = now() + $4 * interval '1 millisecond', attempt = attempt + 1
           from free where job.id = free.id
           returning job.id, lease_id, kind, workspace_id, subject_type, subject_id, subject_version, attempt, input`,
    values: [kinds, newId('lse'), workerId, leaseMs],
  });
  return rows[0];
}

/** Extends a lease; `held` is false when it was lost. */
export async function renewLease(
  pool: Pool,
  jobId: string,
  leaseId: string,
  leaseMs: number,
): Promise<{ readonly held: boolean; readonly stop: boolean }> {
  const { rows } = await pool.query<{ stop_requested: boolean }>({
    name: 'renew_lease',
    text: `update job set lease_until = now() + $3 * interval '1 millisecond'
           where id = $1 and lease_id = $2 and state = 'running' returning stop_requested`,
    values: [jobId, leaseId, leaseMs],
  });
  return { held: rows.length === 1, stop: rows[0]?.stop_requested ?? true };
}

/**
 * Gives a job back for the next try, after a while or at once. A worker that was told to stop gives its try back too.
 * A job that is no longer this lease's, or has ended, stays as it is.
 */
export async function releaseLease(
  pool: Pool,
  jobId: string,
  leaseId: string,
  options: { readonly afterMs?: number; readonly uncounted?: boolean } = {},
): Promise<void> {
  await pool.query({
    name: 'release_lease',
    text: `update job set lease_id = null, lease_until = now() + $3 * interval '1 millisecond', attempt = attempt - $4
           where id = $1 and lease_id = $2 and state = 'running'`,
    values: [jobId, leaseId, options.afterMs ?? 0, options.uncounted ? 1 : 0],
  });
}

/** Ends a job whose subject can no longer be told of it. */
export async function dropJob(pool: Pool, jobId: string, leaseId: string): Promise<void> {
  await pool.query({
    name: 'drop_job',
    text: `update job set state = 'stopped', lease_until = null where id = $1 and lease_id = $2 and state = 'running'`,
    values: [jobId, leaseId],
  });
}

/**
 * Ends a job in the transaction of its report. Throws `lease_lost` unless this lease is the job's newest one and the job
 * still runs: a worker that was thought dead cannot report over its successor.
 */
export async function finishJob(tx: Transaction, subjectId: string, reason: LeaseReport): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'finish_job',
    text: `update job set state = 'done', lease_until = null where id = $1 and lease_id = $2 and subject_id = $3 and state = 'running'`,
    values: [reason.job_id, reason.lease_id, subjectId],
  });
  if (rowCount !== 1) throw new Problem('lease_lost', 'Another worker has this job now; drop it.');
}

/** Throws `lease_lost` unless this lease is the job's newest one and the job still runs; for reports on the way. */
export async function requireLease(tx: Transaction, subjectId: string, reason: LeaseReport): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'require_lease',
    text: `select from job where id = $1 and lease_id = $2 and subject_id = $3 and state = 'running' for update`,
    values: [reason.job_id, reason.lease_id, subjectId],
  });
  if (rowCount !== 1) throw new Problem('lease_lost', 'Another worker has this job now; drop it.');
}

/** Whether a job of this kind about a subject is not over yet. */
export async function hasJob(tx: Transaction, kind: JobKind, subjectId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'has_job',
    text: `select from job where subject_id = $1 and kind = $2 and state in ('queued', 'running') limit 1`,
    values: [subjectId, kind],
  });
  return rowCount === 1;
}

/** Ends the jobs of a subject without a report; a worker hears of it when it renews its lease, or when its report is refused. */
export async function stopJobs(tx: Transaction, subjectId: string): Promise<void> {
  await tx.query({
    name: 'stop_jobs',
    text: `update job set state = 'stopped', stop_requested = true, lease_until = null
           where subject_id = $1 and state in ('queued', 'running')`,
    values: [subjectId],
  });
}

/** Ends the jobs that still prepare one part of a podcast; a worker hears of it when it renews its lease. */
export async function stopSegmentJobs(tx: Transaction, podcastId: string, part: 'intro' | 'outro'): Promise<void> {
  await tx.query({
    name: 'stop_segment_jobs',
    text: `update job set state = 'stopped', stop_requested = true, lease_until = null
           where subject_id = $1 and kind = 'encode_segment' and input ->> 'part' = $2 and state in ('queued', 'running')`,
    values: [podcastId, part],
  });
}
