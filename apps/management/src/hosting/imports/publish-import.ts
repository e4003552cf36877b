import type { ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem, type ProblemCode } from '@longwave/problems';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { listImportedDrafts } from './import-table.ts';
import { publicationOf } from './publish-imported.ts';

/** Problems of one episode that somebody changed meanwhile. */
const episodeProblems: readonly ProblemCode[] = ['state_not_allowed', 'not_found', 'episode_has_no_audio'];

/**
 * Publishes or schedules the imported drafts that have audio, oldest first. The command that queued this job marked the podcast; the follower
 * of encoded productions reads the mark and publishes the drafts that get their audio later.
 */
export function createPublishImportHandler({
  pool,
  execute,
  clock = () => new Date(),
}: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly clock?: () => Date;
}): JobHandler {
  return {
    maxAttempts: 60,
    fail: {
      commandType: 'podcast.fail_import_publication',
      problem: {
        code: 'publication_gave_up',
        detail: 'Publishing the imported episodes failed too often and was given up. Start it again.',
      },
    },
    run: async (job, signal) => {
      const { workspace_id: workspaceId, subject_id: podcastId } = job;
      for (const { id, attributes } of await listImportedDrafts(pool, workspaceId, podcastId)) {
        signal.throwIfAborted();
        const publication = publicationOf('draft', attributes, clock());
        if (!publication) continue;
        const idempotencyKey = `${job.id}:${id}:${publication.type}`;
        try {
          await executeAsManagement(execute, { workspaceId, idempotencyKey }, { ...publication, id });
        } catch (error) {
          if (!isProblem(error, ...episodeProblems)) throw error;
        }
      }
      await executeAsManagement(
        execute,
        { workspaceId, idempotencyKey: `${job.id}:${job.lease_id}`, reason: leaseOf(job) },
        { type: 'podcast.complete_import_publication', id: podcastId, changes: {} },
      );
    },
  };
}
