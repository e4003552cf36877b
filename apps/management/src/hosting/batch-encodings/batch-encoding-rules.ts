import type { productCatalog } from '@longwave/command-catalog';
import { findResource, lockResource, type Decision, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, requireLease, stopJobs, type LeaseReport } from '../../background/job-table.ts';
import { startBatch, type BatchEncoding } from './batch-encoding.ts';

type BatchRules = Pick<
  Rules<typeof productCatalog>,
  Extract<keyof Rules<typeof productCatalog>, `batch_encoding.${string}`>
>;
type Input<R = unknown> = RuleInput<BatchEncoding, unknown, R>;

/** The decision that saves the batch and queues its job. */
const queued = (attributes: BatchEncoding, { workspaceId, subjectId, now }: Input): Decision<BatchEncoding> => ({
  attributes,
  also: (tx, { version }) =>
    insertJob(tx, {
      kind: 'run_batch_encoding',
      workspaceId,
      subjectType: 'batch_encodings',
      subjectId,
      subjectVersion: version,
      input: {},
      now,
    }),
});

const ended = (attributes: BatchEncoding, { subjectId, reason, now }: Input<LeaseReport>): Decision<BatchEncoding> => ({
  attributes: { ...attributes, finished_at: now.toISOString() },
  also: (tx: Transaction) => finishJob(tx, subjectId, reason),
});

/** Rules of the batch encoding commands. */
export const batchEncodingRules: BatchRules = {
  'batch_encoding.start': async (input) => {
    const { podcast_id: podcastId, initiator } = input.changes;
    const podcast = await findResource(input.tx, input.workspaceId, 'podcasts', podcastId);
    return queued(startBatch(podcastId, initiator, podcast?.attributes ?? {}), input);
  },

  'batch_encoding.revert': async (input) => {
    const { podcast_id: podcastId, reverts } = input.changes;
    // The lock decides about productions that are attached for the batch at the same moment: before the revert, or not at all.
    const before = await lockResource(input.tx, input.workspaceId, 'batch_encodings', reverts);
    const batch = before?.attributes;
    if (!batch || batch.podcast_id !== podcastId)
      throw new Problem('link_not_found', 'Name a batch encoding of this podcast.');
    if (['pending', 'running'].includes(before.lifecycle_state))
      throw new Problem('state_not_allowed', 'The batch encoding still runs. Cancel it first.');
    const { initiator } = batch;
    return queued({ podcast_id: podcastId, initiator, reverts, total: 0, done: 0, failed: 0 }, input);
  },

  'batch_encoding.advance': async ({ tx, current, changes, subjectId, reason, now }) => {
    await requireLease(tx, subjectId, reason);
    return { attributes: { ...current, ...changes, started_at: current.started_at ?? now.toISOString() } };
  },

  'batch_encoding.complete': (input) => {
    const started = input.current.started_at ?? input.now.toISOString();
    return ended({ ...input.current, ...input.changes, started_at: started }, input);
  },

  'batch_encoding.fail': (input) => ended({ ...input.current, ...input.changes }, input),

  'batch_encoding.cancel': ({ current, subjectId, now }) => ({
    attributes: { ...current, finished_at: now.toISOString() },
    also: (tx) => stopJobs(tx, subjectId),
  }),
};
