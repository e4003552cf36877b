import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import { createExtraFiles } from './fetch-extras.ts';
import type { ImportContext } from './import-context.ts';
import { importItem } from './import-item.ts';
import { findImportedItems, readStoredFeed, whyLeftOut } from './imported-items.ts';
import { saveImportRecord, type ImportRecord } from './import-report-table.ts';
import { readChannel } from './read-channel.ts';
import { readItem } from './read-item.ts';
import type { Namespaces } from './xml-node.ts';

interface ImportOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly fetch: GuardedFetch;
}

/**
 * Creates the episodes of an imported feed, oldest first, and starts a production of each one's audio. Every step has a key made of
 * podcast and GUID, so that the next attempt goes on where this one ended and makes nothing twice.
 */
export const createImportHandler = ({ pool, store, execute, fetch }: ImportOptions): JobHandler => ({
  maxAttempts: 60,
  concurrency: 2,
  fail: {
    commandType: 'podcast.fail_import',
    problem: {
      code: 'import_gave_up',
      detail: 'The import failed too often and was given up. The episodes that it created are kept.',
    },
  },
  run: async (job, signal) => {
    const { workspace_id: workspaceId, subject_id: podcastId } = job;
    const podcast = (await findResource(pool, workspaceId, 'podcasts', podcastId))!;
    const { podcast_guid: guid, title, language } = podcast.attributes;
    const { storage_key: storageKey } = job.input as { storage_key: string };
    const { items, frame } = await readStoredFeed(store, storageKey);
    const channel = readChannel(frame.channel, frame.fault);
    const target = { workspaceId, podcastId };
    await saveImportRecord(pool, target, { position: 0, guid, title, notes: channel.notes.list });

    const files = createExtraFiles(fetch);
    const context = { ...target, execute, importedAt: podcast.created_at, language, files, signal };
    const imported = await findImportedItems(items, frame.namespaces);
    const counts = { done: 0, failed: 0 };
    // Oldest first, so that ids are in the order of the dates.
    for (let index = items.length - 1; index >= 0; index--) {
      signal.throwIfAborted();
      await assertGoesOn(pool, workspaceId, podcastId);
      const record = await importAt(index, items[index]!, { namespaces: frame.namespaces, imported, context });
      await saveImportRecord(pool, target, record);
      counts[record.problem === undefined ? 'done' : 'failed'] += 1;
    }
    await executeAsManagement(
      execute,
      { workspaceId, idempotencyKey: `${job.id}:${job.lease_id}`, reason: leaseOf(job) },
      { type: 'podcast.complete_import', id: podcastId, changes: counts },
    );
  },
});

/** Throws `state_not_allowed` when the podcast was archived or its import cancelled; the lease tells so too, a little later. */
async function assertGoesOn(pool: Pool, workspaceId: string, podcastId: string): Promise<void> {
  const podcast = await findResource(pool, workspaceId, 'podcasts', podcastId);
  if (podcast?.lifecycle_state === 'archived') throw new Problem('state_not_allowed', 'The podcast is archived.');
  const { problem } = podcast?.attributes.import ?? {};
  if (problem) throw new Problem('state_not_allowed', problem.detail);
}

/** Imports the item at an index of the feed, and returns its record for the report. */
async function importAt(
  index: number,
  xml: string,
  feed: {
    readonly namespaces: Namespaces;
    readonly imported: ReadonlyMap<string, number>;
    readonly context: ImportContext;
  },
): Promise<ImportRecord> {
  const position = index + 1;
  const read = readItem(xml, feed.namespaces);
  if (!read.item) return { position, guid: '', title: '', problem: read.problem, notes: [] };
  const { guid, title } = read.item;
  const problem = whyLeftOut(read, index, feed.imported);
  if (problem !== undefined) return { position, guid, title, problem, notes: [] };
  const outcome = await importItem(read, feed.context);
  return { position, guid, title, ...outcome, notes: read.notes.list };
}
