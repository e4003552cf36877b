import {
  encodingJobKinds,
  forecastJobKinds,
  type EncodingJobInput,
  type EncodingJobKind,
  type ForecastJobInput,
  type ForecastJobKind,
} from '@longwave/events';
import { beginOperation } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { tracePosition } from '@longwave/service-kit';
import type { Columns } from '../generated/rows.ts';
import { nextJob, sumServed, type ServedSums, type ServedWork, type WaitingJob, type Workload } from './job-order.ts';

const internalJobKinds = [
  'compile_serving_plan',
  'clone_campaign',
  'import_feed',
  'publish_import',
  'retry_import',
  'run_batch_encoding',
  'export_statistics',
  'run_report',
  'erase_listeners',
  'map_content',
  'check_tracking_endpoint',
  'ask_platform',
  'validate_demand_source',
  'generate_statement',
  'store_statement',
  'match_reconciliation',
  'close_reconciliation',
  'schedule_makegood',
] as const;

/** Kinds of jobs that management runs itself. */
export type InternalJobKind = (typeof internalJobKinds)[number];
export type JobKind = EncodingJobKind | ForecastJobKind | InternalJobKind;

const jobKinds: readonly JobKind[] = [...encodingJobKinds, ...forecastJobKinds, ...internalJobKinds];

interface JobOf<K extends JobKind, I> {
  readonly kind: K;
  readonly workspaceId: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly subjectVersion: number;
  readonly input: I;
  readonly now: Date;
  /** Default: a job that a person waits for, of unknown length. */
  readonly work?: Workload;
}

export type NewJob =
  | { [K in EncodingJobKind]: JobOf<K, EncodingJobInput<K>> }[EncodingJobKind]
  | { [K in ForecastJobKind]: JobOf<K, ForecastJobInput<K>> }[ForecastJobKind]
  | JobOf<InternalJobKind, unknown>;

export type ClaimedJob = Readonly<
  Columns<
    'job',
    | 'id'
    | 'lease_id'
    | 'kind'
    | 'workspace_id'
    | 'subject_type'
    | 'subject_id'
    | 'subject_version'
    | 'attempt'
    | 'input'
    | 'traceparent',
    { kind: JobKind; lease_id: string }
  >
>;

/** The job that a worker reports about, and its lease. */
export interface LeaseReport {
  readonly job_id: string;
  readonly lease_id: string;
}

/** The lease under which a job was claimed. */
export const leaseOf = ({ id, lease_id }: Pick<ClaimedJob, 'id' | 'lease_id'>): LeaseReport => ({
  job_id: id,
  lease_id,
});

const ofUnknownLength: Workload = { workClass: 'interactive', expectedMs: 30_000 };

/** Queues a job in the transaction of a command. */
export async function insertJob(tx: Transaction, job: NewJob): Promise<void> {
  const { kind, workspaceId, subjectType, subjectId, subjectVersion, input, now, work = ofUnknownLength } = job;
  await tx.query(
    `insert into job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at, work_class, expected_ms,
                      traceparent)
     values ($1, $2, $3, $4, $5, $6, 'queued', $7, $8, $9, $10, $11)`,
    [
      newId('job'),
      kind,
      workspaceId,
      subjectType,
      subjectId,
      subjectVersion,
      input,
      now,
      work.workClass,
      work.expectedMs,
      tracePosition() ?? null,
    ],
  );
}

/** Queued, or under a lease that has ended. */
const free = `(state = 'queued' or (state = 'running' and lease_until <= now()))`;

/** Counts waiting (`queued`) and claimed (`running`) jobs of every kind. */
export async function countJobs(
  pool: Pool,
): Promise<readonly { readonly kind: JobKind; readonly state: 'queued' | 'running'; readonly jobs: number }[]> {
  const { rows } = await pool.query<{ readonly kind: string; readonly queued: number; readonly running: number }>({
    name: 'count_jobs',
    text: `select kind, (count(*) filter (where ${free}))::int as queued, (count(*) filter (where not ${free}))::int as running
           from job where state in ('queued', 'running') group by kind`,
  });
  return jobKinds.flatMap((kind) => {
    const { queued = 0, running = 0 } = rows.find((row) => row.kind === kind) ?? {};
    return [
      { kind, state: 'queued', jobs: queued },
      { kind, state: 'running', jobs: running },
    ] as const;
  });
}

/** Free, as the index of the claims has it: an ended lease is marked first. */
const waiting = `(state = 'queued' or (state = 'running' and lease_until = '-infinity'))`;

/** Ended leases of a kind that a claim marks: more than end between two claims. */
const markedAtOnce = 20;

/** Marks jobs whose leases have ended, so that they are found among those that wait. Who held a lease still has the job until another claim. */
async function markEndedLeases(pool: Pool, kinds: readonly string[]): Promise<void> {
  await pool.query({
    name: 'mark_ended_leases',
    text: `update job set lease_until = '-infinity' where id = any(array(
             select ended.id from unnest($1::text[]) as kinds(kind) cross join lateral (
               select id from job where kind = kinds.kind and state = 'running' and lease_until > '-infinity' and lease_until <= now()
               order by lease_until limit $2 for update skip locked) ended))`,
    values: [kinds, markedAtOnce],
  });
}

/**
 * The first waiting job of each class of each workspace; the next job is one of these. Every step is a look-up in an index, so that the
 * length of a queue does not matter.
 */
async function listHeads(pool: Pool, kinds: readonly string[], maxExpectedMs: number): Promise<WaitingJob[]> {
  const { rows } = await pool.query<WaitingJob>({
    name: 'job_heads',
    text: `with recursive line as (
             select kinds.kind, first.work_class, first.workspace_id from unnest($1::text[]) as kinds(kind) cross join lateral (
               select work_class, workspace_id from job where kind = kinds.kind and ${waiting}
               order by work_class, workspace_id limit 1) first
             union all
             select line.kind, next.work_class, next.workspace_id from line cross join lateral (
               select work_class, workspace_id from job
               where kind = line.kind and (work_class, workspace_id) > (line.work_class, line.workspace_id) and ${waiting}
               order by work_class, workspace_id limit 1) next)
           select distinct on (work_class, workspace_id) head.id, work_class as "workClass", workspace_id as "workspaceId",
             head.expected_ms as "expectedMs", head.created_at as "createdAt"
           from line cross join lateral (
             select id, expected_ms, created_at from job
             where kind = line.kind and work_class = line.work_class and workspace_id = line.workspace_id and expected_ms <= $2
               and ${waiting}
             order by expected_ms, created_at, id limit 1) head
           order by work_class, workspace_id, head.expected_ms, head.created_at, head.id`,
    values: [kinds, maxExpectedMs],
  });
  return rows;
}

/** Expected slot time of the jobs of these kinds that were claimed in the last ten minutes or run now. */
export async function sumRecentlyServed(pool: Pool, kinds: readonly string[]): Promise<ServedSums> {
  const { rows } = await pool.query<ServedWork>({
    name: 'served_work',
    text: `select work_class as "workClass", workspace_id as "workspaceId", sum(expected_ms)::float8 as "expectedMs"
           from (select * from job where kind = any($1) and claimed_at > now() - interval '10 minutes'
                 union all
                 select * from job where kind = any($1) and state = 'running' and lease_until > now()
                   and (claimed_at > now() - interval '10 minutes') is not true) served
           group by 1, 2`,
    values: [kinds],
  });
  return sumServed(rows);
}

/** A job that has not ended. */
export interface QueuedJob extends WaitingJob {
  readonly subjectId: string;
  /** Milliseconds since it was claimed; null while it waits. */
  readonly runningMs: number | null;
}

/**
 * All jobs of these kinds that have not ended, and the pace of the last hour: real time divided by expected time, 1 when no job ended.
 */
export async function listQueue(
  pool: Pool,
  kinds: readonly string[],
): Promise<{ readonly queue: readonly QueuedJob[]; readonly pace: number }> {
  const [jobs, ended] = await Promise.all([
    pool.query<QueuedJob>({
      name: 'queued_jobs',
      text: `select id, work_class as "workClass", workspace_id as "workspaceId", subject_id as "subjectId",
               expected_ms as "expectedMs", created_at as "createdAt",
               case when not ${free} then (extract(epoch from now() - claimed_at) * 1000)::float8 end as "runningMs"
             from job where kind = any($1) and state in ('queued', 'running')`,
      values: [kinds],
    }),
    pool.query<{ pace: number | null }>({
      name: 'job_pace',
      text: `select (extract(epoch from sum(ended_at - claimed_at)) * 1000 / sum(expected_ms))::float8 as pace from job
             where kind = any($1) and state = 'done' and claimed_at > now() - interval '1 hour'`,
      values: [kinds],
    }),
  ]);
  return { queue: jobs.rows, pace: ended.rows[0]?.pace || 1 };
}

const forEver = 2 ** 31 - 1;

/**
 * Claims the next free job in the order of job-order.ts, or returns undefined. The operation that queued the job is then running.
 * @param maxExpectedMs excludes jobs that are expected to take longer, for a slot that is reserved for short ones
 */
export async function claimJob(
  pool: Pool,
  kinds: readonly string[],
  workerId: string,
  leaseMs: number,
  maxExpectedMs: number = forEver,
): Promise<ClaimedJob | undefined> {
  for (;;) {
    await markEndedLeases(pool, kinds);
    const heads = await listHeads(pool, kinds, maxExpectedMs);
    if (heads.length === 0) return undefined;
    const next = nextJob(heads, await sumRecentlyServed(pool, kinds))!;
    const { rows } = await pool.query<ClaimedJob>({
      name: 'claim_job',
      text: `update job set state = 'running', lease_id = $2, worker_id = $3, lease_until = now() + $4 * interval '1 millisecond',
               attempt = attempt + 1, claimed_at = now()
             where id = $1 and ${free}
             returning id, lease_id, kind, workspace_id, subject_type, subject_id, subject_version, attempt, input, traceparent`,
      values: [next.id, newId('lse'), workerId, leaseMs],
    });
    // Otherwise another worker was faster.
    if (!rows[0]) continue;
    await beginOperation(pool, { id: rows[0].subject_id, version: rows[0].subject_version });
    return rows[0];
  }
}

/** Extends a lease; `held` is false when it was lost. */
export async function renewLease(
  pool: Pool,
  jobId: string,
  leaseId: string,
  leaseMs: number,
): Promise<{ readonly held: boolean; readonly stop: boolean }> {
  const { rows } = await pool.query<Columns<'job', 'stop_requested'>>({
    name: 'renew_lease',
    text: `update job set lease_until = now() + $3 * interval '1 millisecond'
           where id = $1 and lease_id = $2 and state = 'running' returning stop_requested`,
    values: [jobId, leaseId, leaseMs],
  });
  return { held: rows.length === 1, stop: rows[0]?.stop_requested ?? true };
}

/**
 * Releases a job for its next attempt, at once or after a while. `uncounted` gives the attempt back too, for a worker that was stopped. A
 * job under another lease, or one that has ended, stays as it is.
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

/** Ends a job of these kinds, whose end no command reports; false when it runs under another lease. */
export async function endJob(pool: Pool, jobId: string, leaseId: string, kinds: readonly JobKind[]): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'end_job',
    text: `update job set state = 'done', lease_until = null, ended_at = now()
           where id = $1 and lease_id = $2 and state = 'running' and kind = any($3)`,
    values: [jobId, leaseId, kinds],
  });
  return rowCount === 1;
}

/** Forgets the jobs of a kind of a subject that have ended, where another one takes their place. */
export async function removeEndedJobs(tx: Transaction, subjectId: string, kind: JobKind): Promise<void> {
  await tx.query({
    name: 'remove_ended_jobs',
    text: `delete from job where subject_id = $1 and kind = $2 and state in ('done', 'stopped')`,
    values: [subjectId, kind],
  });
}

/** Ends a job whose subject can no longer take its report. */
export async function dropJob(pool: Pool, jobId: string, leaseId: string): Promise<void> {
  await pool.query({
    name: 'drop_job',
    text: `update job set state = 'stopped', lease_until = null, ended_at = now() where id = $1 and lease_id = $2 and state = 'running'`,
    values: [jobId, leaseId],
  });
}

/**
 * Ends a job in the transaction of its report. Throws `lease_lost` unless the job runs under this lease: a worker whose lease has ended
 * cannot report over its successor.
 */
export async function finishJob(tx: Transaction, subjectId: string, lease: LeaseReport): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'finish_job',
    text: `update job set state = 'done', lease_until = null, ended_at = now() where id = $1 and lease_id = $2 and subject_id = $3 and state = 'running'`,
    values: [lease.job_id, lease.lease_id, subjectId],
  });
  if (rowCount !== 1) throw new Problem('lease_lost', 'Another worker has this job now; drop it.');
}

/** Throws `lease_lost` unless the job runs under this lease; for reports of progress. */
export async function requireLease(tx: Transaction, subjectId: string, lease: LeaseReport): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'require_lease',
    text: `select from job where id = $1 and lease_id = $2 and subject_id = $3 and state = 'running' for update`,
    values: [lease.job_id, lease.lease_id, subjectId],
  });
  if (rowCount !== 1) throw new Problem('lease_lost', 'Another worker has this job now; drop it.');
}

/** Whether a subject has a job of this kind that has not ended; of kinds that make one track each, the job of one track. */
export async function hasJob(tx: Transaction, kind: JobKind, subjectId: string, track?: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'has_job',
    text: `select from job where subject_id = $1 and kind = $2 and state in ('queued', 'running')
             and ($3::text is null or input ->> 'track' = $3) limit 1`,
    values: [subjectId, kind, track ?? null],
  });
  return rowCount === 1;
}

/** How many jobs of a kind a workspace has that have not ended. */
export async function countJobsOf(tx: Transaction, workspaceId: string, kind: JobKind): Promise<number> {
  const { rows } = await tx.query<{ readonly jobs: number }>({
    name: 'count_jobs_of',
    text: `select count(*)::int as jobs from job where workspace_id = $1 and kind = $2 and state in ('queued', 'running')`,
    values: [workspaceId, kind],
  });
  return rows[0]!.jobs;
}

/** Ends the jobs of a subject, or those of one kind, without a report; a worker learns of it when it renews its lease, or from the refusal of its report. */
export async function stopJobs(tx: Transaction, subjectId: string, kind?: JobKind): Promise<void> {
  await tx.query({
    name: 'stop_jobs',
    text: `update job set state = 'stopped', stop_requested = true, lease_until = null, ended_at = now()
           where subject_id = $1 and state in ('queued', 'running') and ($2::text is null or kind = $2)`,
    values: [subjectId, kind ?? null],
  });
}

/** Ends the jobs that prepare one part of a podcast; a worker learns of it when it renews its lease. */
export async function stopSegmentJobs(tx: Transaction, podcastId: string, part: 'intro' | 'outro'): Promise<void> {
  await tx.query({
    name: 'stop_segment_jobs',
    text: `update job set state = 'stopped', stop_requested = true, lease_until = null, ended_at = now()
           where subject_id = $1 and kind = 'encode_segment' and input ->> 'part' = $2 and state in ('queued', 'running')`,
    values: [podcastId, part],
  });
}
