import { setTimeout as wait } from 'node:timers/promises';
import type { CommandType, productCatalog } from '@longwave/command-catalog';
import type { ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { claimJob, dropJob, releaseLease, renewLease, type ClaimedJob, type JobKind } from './job-table.ts';

/** Kinds of jobs that management does itself. */
export type OwnJobKind = Extract<
  JobKind,
  | 'compile_serving_plan'
  | 'clone_campaign'
  | 'import_feed'
  | 'publish_import'
  | 'run_batch_encoding'
  | 'export_statistics'
>;

export interface Work {
  /**
   * One try. It reports the end of its job by a command, and may end quietly when the signal stops it. What it throws is
   * tried again later, so every step of it must be repeatable.
   */
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<void>;
  /** Tells the subject, after the last try, that nothing comes any more. */
  readonly fail: {
    readonly commandType: CommandType<typeof productCatalog>;
    readonly problem: { readonly code: string; readonly detail: string };
  };
  /** Tries, crashes of this process included. */
  readonly attemptsMax: number;
  /** How many jobs of this kind go on at a time; default 1. */
  readonly slots?: number;
}

export interface JobRunner extends AsyncDisposable {
  /** There may be a job now. */
  wake(): void;
}

/** The pause before the next try. */
const backOff = (attempt: number) => Math.min(15_000, 500 * 2 ** Math.min(attempt, 10));

/** Refusals after which no further try can help: someone ended the subject meanwhile. */
const overtaken: readonly string[] = ['state_not_allowed', 'not_found'];

/**
 * Does management's own jobs. Every kind has slots of its own, so that a long job never holds up another kind. Every job is
 * under a lease that is renewed while the work goes on; a process that dies leaves it to the next one. Disposing stops
 * the work that runs and gives it back at once.
 */
export function startJobRunner(options: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly works: Readonly<Partial<Record<OwnJobKind, Work>>>;
  readonly onError: (error: unknown, job?: Pick<ClaimedJob, 'id' | 'kind'>) => void;
  readonly leaseMs?: number;
  /** How often someone looks for a job that nobody announced. */
  readonly pollMs?: number;
  readonly backOffMs?: (attempt: number) => number;
}): JobRunner {
  const { pool, execute, onError, leaseMs = 30_000, pollMs = 1_000, backOffMs = backOff } = options;
  const works = new Map(Object.entries(options.works) as [OwnJobKind, Work][]);
  const stopping = new AbortController();
  const slots = new Map<JobKind, Set<Promise<void>>>([...works.keys()].map((kind) => [kind, new Set()]));
  let nap = new AbortController();
  const wake = () => nap.abort();

  /** Keeps the lease until the work ends; stops the work when the lease is lost or somebody ended the job. */
  async function keepLease(job: ClaimedJob, work: AbortController, ended: AbortSignal): Promise<void> {
    let heldUntil = performance.now() + leaseMs;
    const signal = AbortSignal.any([ended, work.signal]);
    for (;;) {
      await wait(leaseMs / 3, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const askedAt = performance.now();
      const renewed = await renewLease(pool, job.id, job.lease_id, leaseMs).catch(onError);
      if (renewed?.held && !renewed.stop) heldUntil = askedAt + leaseMs;
      else if (renewed || performance.now() > heldUntil) work.abort(new Error('The job is no longer this worker’s.'));
    }
  }

  async function giveUp(job: ClaimedJob, { fail }: Work): Promise<void> {
    try {
      await execute(
        {
          workspaceId: job.workspace_id,
          commandType: fail.commandType,
          idempotencyKey: `${job.id}:${job.lease_id}:fail`,
          subject: { type: job.subject_type, id: job.subject_id },
          changes: { problem: fail.problem },
          reason: { job_id: job.id, lease_id: job.lease_id },
        },
        { kind: 'service', name: 'management' },
      );
    } catch (error) {
      if (!(error instanceof Problem) || !overtaken.includes(error.code)) throw error;
      await dropJob(pool, job.id, job.lease_id);
    }
  }

  async function attempt(job: ClaimedJob, work: Work): Promise<void> {
    if (job.attempt > work.attemptsMax) return await giveUp(job, work);
    const lost = new AbortController();
    const ended = new AbortController();
    const keeping = keepLease(job, lost, ended.signal);
    try {
      await work.run(job, AbortSignal.any([lost.signal, stopping.signal]));
    } catch (error) {
      if (lost.signal.aborted || stopping.signal.aborted) return;
      if (error instanceof Problem && error.code === 'lease_lost') return;
      if (error instanceof Problem && overtaken.includes(error.code)) return await giveUp(job, work);
      throw error;
    } finally {
      ended.abort();
      await keeping;
      if (stopping.signal.aborted) await releaseLease(pool, job.id, job.lease_id, { uncounted: true });
    }
  }

  async function occupySlot(job: ClaimedJob): Promise<void> {
    try {
      await attempt(job, works.get(job.kind as OwnJobKind)!);
    } catch (error) {
      onError(error, job);
      // Without a database the lease runs out by itself.
      await releaseLease(pool, job.id, job.lease_id, { afterMs: backOffMs(job.attempt) }).catch(onError);
    }
  }

  function occupy(job: ClaimedJob): void {
    const occupied = slots.get(job.kind)!;
    const slot = occupySlot(job).finally(() => {
      occupied.delete(slot);
      wake();
    });
    occupied.add(slot);
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      // Taken before looking: a call that comes while the database answers is not slept through.
      nap = new AbortController();
      const free = [...works].filter(([kind, work]) => slots.get(kind)!.size < (work.slots ?? 1)).map(([kind]) => kind);
      const job =
        free.length > 0
          ? await claimJob(pool, free, 'management', leaseMs).catch((error: unknown) => {
              onError(error);
              return undefined;
            })
          : undefined;
      if (job) occupy(job);
      else
        await wait(pollMs, undefined, { signal: AbortSignal.any([nap.signal, stopping.signal]) }).catch(
          () => undefined,
        );
    }
    await Promise.all([...slots.values()].flatMap((occupied) => [...occupied]));
  })();

  return {
    wake,
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new Error('The service stops.'));
      await running;
    },
  };
}
