import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { isProblem, type Problem, type ProblemCode } from '@longwave/problems';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf, type ClaimedJob } from '../../background/job-table.ts';
import { findPlace } from './find-place.ts';
import { findVersionBefore } from './snapshot-table.ts';
import { areRightsOver, hexOf, refuseState, subjectOfSnapshot, type Snapshot } from './snapshot.ts';
import { takeCaptions } from './take-captions.ts';

interface MapOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly fetch: GuardedFetch;
  readonly clock?: () => Date;
}

type Failure = NonNullable<Snapshot['problem']>;

/** Problems of the content itself: trying again cannot help until its platform, or the workspace, has changed something. */
const contentProblems: readonly ProblemCode[] = [
  'value_taken',
  'podcast_not_ready',
  'validation_failed',
  'media_not_fetchable',
  'upload_not_received',
];

const failureOf = ({ code, message }: Problem): Failure => ({ code, detail: message.slice(0, 1000) });

/**
 * The encoding of an earlier version whose master had the same bytes. Two are asked: the version before, and the one that the episode plays
 * now. A master that returns after others have served in between is encoded again, so that the search does not grow with the versions.
 */
async function findSameAudio(
  pool: Pool,
  workspaceId: string,
  snapshot: Snapshot,
  episodeId: string,
): Promise<string | undefined> {
  const { digest } = snapshot.content.episode.audio_master;
  const before = await findVersionBefore(pool, subjectOfSnapshot(workspaceId, snapshot), snapshot.source_version);
  const playedId = (await findResource(pool, workspaceId, 'episodes', episodeId))?.attributes.snapshot_id;
  const played =
    playedId === undefined ? undefined : await findResource(pool, workspaceId, 'content_snapshots', playedId);
  for (const known of [before, played]) {
    const id = known?.attributes.production_id;
    if (id === undefined || known?.attributes.content.episode.audio_master.digest !== digest) continue;
    const production = await findResource(pool, workspaceId, 'productions', id);
    if (production?.lifecycle_state === 'encoded') return id;
  }
  return undefined;
}

/** The encoding of a version: that of the same bytes, else a new one that is started. Every step has a key of its own. */
async function findProduction(
  { pool, execute }: MapOptions,
  job: ClaimedJob,
  snapshot: Snapshot,
  episodeId: string,
): Promise<string> {
  const workspaceId = job.workspace_id;
  const known = await findSameAudio(pool, workspaceId, snapshot, episodeId);
  if (known !== undefined) return known;
  // A retried version gets another encoding.
  const key = (step: string) => ({
    workspaceId,
    idempotencyKey: `${job.subject_id}:${job.subject_version}:${step}`,
  });
  const { url, digest, bytes } = snapshot.content.episode.audio_master;
  const { id } = await executeAsManagement(execute, key('derive'), {
    type: 'production.derive',
    id: null,
    changes: {
      episode_id: episodeId,
      file_url: url,
      imported: true,
      declared: { sha256: hexOf(digest), size_bytes: bytes },
    },
  });
  await executeAsManagement(execute, key('start'), { type: 'production.start', id, changes: {} });
  return id;
}

/** Stops an encoding that nobody waits for. */
async function stopEncoding(
  { execute }: MapOptions,
  { id: jobId, lease_id, workspace_id: workspaceId }: ClaimedJob,
  id: string,
) {
  const envelope = { workspaceId, idempotencyKey: `${jobId}:${lease_id}:stop` };
  await executeAsManagement(execute, envelope, { type: 'production.stop', id, changes: {} }).catch((error: unknown) => {
    if (!isProblem(error, 'state_not_allowed', 'not_found')) throw error;
  });
}

/** Whether the version has ended while it was taken over. Another worker may have gone on with it instead. */
async function isOver(pool: Pool, { workspace_id: workspaceId, subject_id: id }: ClaimedJob): Promise<boolean> {
  const row = await findResource(pool, workspaceId, 'content_snapshots', id);
  return row === undefined || ['superseded', 'revoked'].includes(row.lifecycle_state);
}

/**
 * Takes over a version of an episode that another platform hosts: its podcast, its episode, its captions and the encoding of its audio.
 * What it says of the episode is applied with its audio, so that the version before goes on as it is until then.
 */
export const createMapContentHandler = (options: MapOptions): JobHandler => ({
  maxAttempts: 60,
  concurrency: 4,
  fail: {
    commandType: 'content_snapshot.record_failed',
    problem: {
      code: 'mapping_gave_up',
      detail: 'Taking over this version failed too often and was given up. Retry it.',
    },
  },
  run: async (job, signal) => {
    const { pool, execute, clock = () => new Date() } = options;
    const { workspace_id: workspaceId, subject_id: id } = job;
    const row = await findResource(pool, workspaceId, 'content_snapshots', id);
    if (row?.lifecycle_state !== 'received') return refuseState('The version no longer waits to be taken over.');
    const snapshot = row.attributes;
    const report = { workspaceId, idempotencyKey: `${job.id}:${job.lease_id}`, reason: leaseOf(job) };
    const fail = (problem: Failure) =>
      executeAsManagement(execute, report, { type: 'content_snapshot.record_failed', id, changes: { problem } });
    if (areRightsOver(snapshot, clock())) {
      await fail({ code: 'rights_over', detail: 'The time for which the platform grants its rights is over.' });
      return;
    }
    let productionId: string | undefined;
    try {
      const { podcastId, episodeId } = await findPlace({ pool, execute, workspaceId }, snapshot);
      productionId = await findProduction(options, job, snapshot, episodeId);
      const captions = await takeCaptions(options, snapshot.content.episode.captions ?? [], signal);
      const changes = { podcast_id: podcastId, episode_id: episodeId, production_id: productionId, ...captions };
      await executeAsManagement(execute, report, { type: 'content_snapshot.map', id, changes });
    } catch (error) {
      const isFinal = isProblem(error, ...contentProblems);
      if (productionId !== undefined && (isFinal || (await isOver(pool, job))))
        await stopEncoding(options, job, productionId);
      if (!isFinal) throw error;
      await fail(failureOf(error));
    }
  },
});
