import { findResource, listLinked, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import { createSend } from './import-context.ts';
import { startAudio } from './import-item.ts';
import { readStoredFeed } from './imported-items.ts';
import { listSilentItems, saveRetry } from './import-report-table.ts';
import { readItem } from './read-item.ts';

/**
 * Makes another production of the audio of each failed item, or of the one that `input.position` names, from the file that the imported feed
 * names. An episode that got other audio meanwhile keeps it. Keys are made of the job, so that its next attempt makes nothing twice, and the next job makes productions of its own.
 */
export const createRetryImportHandler = ({
  pool,
  store,
  execute,
}: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
}): JobHandler => ({
  maxAttempts: 60,
  concurrency: 2,
  fail: {
    commandType: 'podcast.fail_import_retry',
    problem: {
      code: 'import_retry_gave_up',
      detail: 'Trying the failed items again failed too often and was given up. Start it again.',
    },
  },
  run: async (job, signal) => {
    const { workspace_id: workspaceId, subject_id: podcastId } = job;
    const { position: wanted } = job.input as { position?: number };
    const podcast = (await findResource(pool, workspaceId, 'podcasts', podcastId))!;
    const { items, frame } = await readStoredFeed(store, podcast.attributes.import!.storage_key);
    for (const { position, guid, episode_id: episodeId } of await listSilentItems(pool, podcastId, wanted)) {
      signal.throwIfAborted();
      const { lifecycle_state: state } = (await findResource(pool, workspaceId, 'podcasts', podcastId))!;
      if (state === 'archived') throw new Problem('state_not_allowed', 'The podcast is archived.');
      const { item } = readItem(items[position - 1] ?? '', frame.namespaces);
      if (!item || !(await lacksAudio(pool, workspaceId, { episodeId, fileUrl: item.enclosureUrl }))) continue;
      const send = createSend({ execute, workspaceId, podcastId }, guid);
      await saveRetry(pool, podcastId, { position, ...(await startAudio(item, episodeId, send, `:${job.id}`)) });
    }
    await executeAsManagement(
      execute,
      { workspaceId, idempotencyKey: `${job.id}:${job.lease_id}`, reason: leaseOf(job) },
      { type: 'podcast.complete_import_retry', id: podcastId, changes: {} },
    );
  },
});

/** States of a production that can still give its episode audio. */
const hopeful = ['initial', 'encoding', 'encoded'];

/** Whether an episode is a draft that has no audio now, nor a production of another file than the feed names: somebody may have given it audio since. */
async function lacksAudio(
  pool: Pool,
  workspaceId: string,
  { episodeId, fileUrl }: { readonly episodeId: string; readonly fileUrl: string | undefined },
): Promise<boolean> {
  const episode = await findResource(pool, workspaceId, 'episodes', episodeId);
  if (episode?.lifecycle_state !== 'draft' || episode.attributes.current_production_id !== undefined) return false;
  const productions = await listLinked(pool, workspaceId, 'productions', 'episode', episodeId, hopeful);
  // One that could not be started, or that an attempt at this job left.
  return productions.every(({ attributes }) => attributes.imported && attributes.file_url === fileUrl);
}
