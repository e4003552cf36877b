import { isProblem } from '@longwave/problems';
import { findResource, listLinked, type ExecuteCommand, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { sleep } from '@longwave/worker-kit';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf, type ClaimedJob } from '../../background/job-table.ts';
import { listEncodings } from './batch-encoding-table.ts';
import { updateEpisode, type BatchAttempt } from './batch-episode.ts';

/** Milliseconds between two reports of progress, and between two polls of encodings. */
const paceMs = 1_000;

interface BatchEncodingOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
}

/**
 * Runs a batch encoding: episode by episode, under keys made of batch and episode, so that the next attempt goes on where this one
 * ended. An episode that something newer changed, or that gets new audio, stays as it is and counts nowhere. An attempt ends quietly
 * when the batch was cancelled or the lease was lost.
 */
export const createBatchEncodingHandler = ({ pool, execute }: BatchEncodingOptions): JobHandler => ({
  maxAttempts: 60,
  // A batch mostly waits for encoders.
  concurrency: 8,
  fail: {
    commandType: 'batch_encoding.fail',
    problem: {
      code: 'batch_gave_up',
      detail: 'The batch encoding failed too often and was given up. Start another one.',
    },
  },
  run: async (job, signal) => {
    const attempt = await beginAttempt(pool, execute, job);
    const { reverts } = attempt.batch;
    if (reverts) await stopEncodings(attempt, job, reverts);
    const episodes = await listAffectedEpisodes(attempt);
    const progress = createProgress(attempt, job, episodes.length);
    const encoding = new Set<string>();

    for (const { id } of episodes) {
      if (await hasEnded(attempt, job, signal, encoding)) return;
      await progress.report();
      const outcome = await updateEpisode(attempt, id);
      if (outcome === 'done') progress.counts.done += 1;
      else if (outcome === 'failed') progress.counts.failed += 1;
      else if (outcome === 'superseded') progress.counts.total -= 1;
      else encoding.add(outcome.productionId);
    }

    // Encoders work on what was started; this job only watches.
    for (;;) {
      if (await hasEnded(attempt, job, signal, encoding)) return;
      for (const id of encoding) {
        const production = await findResource(pool, attempt.workspaceId, 'productions', id);
        if (production?.lifecycle_state === 'encoding') continue;
        encoding.delete(id);
        progress.counts[production?.lifecycle_state === 'encoded' ? 'done' : 'failed'] += 1;
      }
      if (encoding.size === 0) break;
      await progress.report();
      await sleep(paceMs, signal);
    }
    if (await hasEnded(attempt, job, signal, encoding)) return;
    await progress.complete();
  },
});

async function beginAttempt(pool: Pool, execute: ExecuteCommand, job: ClaimedJob): Promise<BatchAttempt> {
  const { workspace_id: workspaceId, subject_id: batchId } = job;
  const row = await findResource(pool, workspaceId, 'batch_encodings', batchId);
  return {
    pool,
    workspaceId,
    batchId,
    batch: row!.attributes,
    send: (idempotencyKey, command, reason) =>
      executeAsManagement(execute, { workspaceId, idempotencyKey, ...(reason && { reason }) }, command),
  };
}

/** Episodes with audio; for a revert, those that the reverted batch or this one changed last. */
async function listAffectedEpisodes({ pool, workspaceId, batchId, batch }: BatchAttempt) {
  const isAffected = ({ lifecycle_state: state, attributes }: ResourceRow<'episodes'>) =>
    state !== 'archived' &&
    attributes.current_production_id !== undefined &&
    (!batch.reverts || [batch.reverts, batchId].some((id) => id === attributes.batch_encoding_id));
  return (await listLinked(pool, workspaceId, 'episodes', 'podcast', batch.podcast_id)).filter(isAffected);
}

/** Stops the encodings that are under way for a batch: nobody attaches them any more. */
async function stopEncodings(attempt: BatchAttempt, job: ClaimedJob, ofBatch: string): Promise<void> {
  const { pool, workspaceId, batchId, batch, send } = attempt;
  for (const id of await listEncodings(pool, workspaceId, batch.podcast_id, ofBatch))
    try {
      await send(`${batchId}:${id}:stop:${job.lease_id}`, { type: 'production.stop', id, changes: {} });
    } catch (error) {
      if (!isProblem(error, 'state_not_allowed')) throw error;
    }
}

/** Whether this attempt must end. A cancelled batch also gets the encodings stopped that this attempt has started. */
async function hasEnded(
  attempt: BatchAttempt,
  job: ClaimedJob,
  signal: AbortSignal,
  encoding: ReadonlySet<string>,
): Promise<boolean> {
  const { pool, workspaceId, batchId } = attempt;
  const batch = await findResource(pool, workspaceId, 'batch_encodings', batchId);
  const isCancelled = batch?.lifecycle_state === 'cancelled';
  if (isCancelled && encoding.size > 0) await stopEncodings(attempt, job, batchId);
  return signal.aborted || isCancelled;
}

/** Counts episodes and reports the numbers to the batch, at most once a second, and at the end. */
function createProgress({ send, batchId }: BatchAttempt, job: ClaimedJob, total: number) {
  const counts = { total, done: 0, failed: 0 };
  let reportedAt = 0;
  const sendCounts = (verb: 'advance' | 'complete') =>
    send(
      `${job.lease_id}:${verb}:${counts.done}:${counts.failed}`,
      { type: `batch_encoding.${verb}`, id: batchId, changes: { ...counts } },
      leaseOf(job),
    );
  return {
    counts,
    report: async (): Promise<void> => {
      if (performance.now() - reportedAt < paceMs) return;
      reportedAt = performance.now();
      await sendCounts('advance');
    },
    complete: () => sendCounts('complete'),
  };
}
