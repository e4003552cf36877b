import type { ChangesInput } from '@longwave/command-catalog';
import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { RetryLater, type JobHandler } from '../../background/job-runner.ts';
import { leaseOf, type ClaimedJob } from '../../background/job-table.ts';
import { askPlatform, sentDigest, type PlatformOutcome } from './ask-platform.ts';
import type { ExternalReceipt, PlatformAction, Platforms, Submission } from './platform.ts';
import type { SubmissionAttributes } from './submission.ts';

type FailChanges = ChangesInput<'platform_submission.fail'>;
type RecordChanges = ChangesInput<'platform_submission.record'>;
type Stated = Exclude<PlatformOutcome, { kind: 'not_taken' }>;

const jobInput = z.strictObject({ action: z.enum(['submit', 'refresh', 'withdraw']) });

export interface AskPlatformOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly fetch: GuardedFetch;
  readonly clock: () => Date;
  readonly platforms: Platforms;
  /** Milliseconds for one request; default 30 s. */
  readonly platformLimitMs?: number;
}

const second = 1_000;
const maxWaitMs = 3_600 * second;
/** With these waits two days. */
const maxAttempts = 60;
/** Before the next request, unless the platform asks for more: 10 s, 20 s … an hour. */
const waitMs = (attempt: number) => Math.min(maxWaitMs, 5 * second * 2 ** Math.min(attempt, 12));

/** What the platform is told; undefined once the episode or its podcast is gone. */
async function submissionOf(
  pool: Pool,
  { workspace_id: workspaceId, subject_id: id }: ClaimedJob,
  { episode_id, podcast_id, playlist_url, external_id }: SubmissionAttributes,
): Promise<Submission | undefined> {
  const episode = await findResource(pool, workspaceId, 'episodes', episode_id);
  const podcast = await findResource(pool, workspaceId, 'podcasts', podcast_id);
  if (!episode || !podcast || playlist_url === undefined) return undefined;
  return {
    ...{ id, externalId: external_id, playlistUrl: playlist_url },
    ...{ episodeGuid: episode.attributes.guid, podcastGuid: podcast.attributes.podcast_guid },
  };
}

/** What is recorded of an answer. */
function recorded(outcome: Stated & { readonly receipt: ExternalReceipt }): RecordChanges {
  const external_receipt = outcome.receipt;
  switch (outcome.kind) {
    case 'ambiguous':
      return { found: 'conflicting', external_receipt, detail: outcome.known };
    case 'rejected':
      return { found: 'rejected', external_receipt, detail: outcome.reason };
    case 'absent':
      return { found: 'absent', external_receipt };
    default:
      return { found: outcome.kind, external_receipt, external_id: outcome.externalId };
  }
}

/** What is recorded of an outcome as a failure of the operation; undefined for one that was what the operation wanted. */
function failureOf(action: PlatformAction, outcome: Stated): FailChanges | undefined {
  const isReading = action === 'refresh';
  const answered = outcome.receipt && { external_receipt: outcome.receipt };
  if (outcome.kind === 'rejected' && !isReading)
    return { problem: { code: 'provider_rejected', detail: outcome.reason }, outcome: 'rejected', ...answered };
  // A refresh that finds a contradiction has read something.
  if (outcome.kind !== 'ambiguous' || (isReading && outcome.ambiguity === 'conflicting')) return undefined;
  const problem = { code: 'provider_outcome_unknown', detail: outcome.known };
  return { problem, outcome: outcome.ambiguity, ...answered };
}

/**
 * Asks a platform. Before a request that changes something there, the attempt is recorded: an attempt that a crash has left without outcome is
 * ambiguous and is never sent again; a refresh finds out. What the platform did not take is sent again later.
 */
export const createAskPlatformHandler = (options: AskPlatformOptions): JobHandler => ({
  maxAttempts,
  concurrency: 2,
  fail: {
    commandType: 'platform_submission.fail',
    problem: { code: 'platform_unavailable', detail: 'The platform could not be asked for two days. Try again.' },
  },
  run: async (job, signal) => {
    const { pool, execute, fetch, clock, platforms, platformLimitMs } = options;
    const { workspace_id: workspaceId, subject_id: id } = job;
    const { action } = jobInput.parse(job.input);
    const send = (step: string) => ({ workspaceId, idempotencyKey: `${job.lease_id}:${step}`, reason: leaseOf(job) });
    const row = await findResource(pool, workspaceId, 'platform_submissions', id);
    if (!row) throw new Error(`job ${job.id} asks for a submission that is gone`);
    const { attributes } = row;

    const fail = async (changes: FailChanges): Promise<void> => {
      await executeAsManagement(execute, send('fail'), { type: 'platform_submission.fail', id, changes });
    };
    const notTaken = (code: string, detail: string) => fail({ problem: { code, detail }, outcome: 'not_taken' });

    if (attributes.attempt) {
      const detail = 'The service ended while the platform was asked: it may have taken the request.';
      return fail({ problem: { code: 'provider_outcome_unknown', detail }, outcome: 'unknown' });
    }
    const { platform, missing } = platforms[attributes.platform];
    if (!platform) return notTaken('platform_not_configured', missing);
    const submission = await submissionOf(pool, job, attributes);
    if (!submission) return notTaken('presentation_not_ready', 'The episode is gone.');

    if (action !== 'refresh') {
      const changes = { action, sent_sha256: sentDigest(platform.request[action](submission)) };
      await executeAsManagement(execute, send('begin'), { type: 'platform_submission.begin', id, changes });
    }
    const outcome = await askPlatform(platform, action, submission, {
      ...{ fetch, clock, signal },
      ...(platformLimitMs !== undefined && { limitMs: platformLimitMs }),
    });
    if (outcome.kind === 'not_taken') {
      const { detail, isLasting, retryAfterMs = 0 } = outcome;
      if (isLasting) return notTaken('platform_not_configured', detail);
      const problem = { code: 'platform_unavailable', detail };
      // The clock refreshes again anyway.
      if (action === 'refresh') return notTaken(problem.code, detail);
      const postponed = { type: 'platform_submission.postpone', id, changes: { problem } } as const;
      await executeAsManagement(execute, send('postpone'), postponed);
      throw new RetryLater(detail, Math.min(maxWaitMs, Math.max(waitMs(job.attempt), retryAfterMs)));
    }
    const failure = failureOf(action, outcome);
    if (failure || outcome.receipt === undefined) return fail(failure!);
    const changes = recorded({ ...outcome, receipt: outcome.receipt });
    await executeAsManagement(execute, send('record'), { type: 'platform_submission.record', id, changes });
  },
});
