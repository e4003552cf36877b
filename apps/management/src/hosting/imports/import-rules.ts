import type { productCatalog } from '@longwave/command-catalog';
import { hasSilentItem } from './import-report-table.ts';
import { findImportedPodcast } from './import-table.ts';
import type { Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, hasJob, insertJob, stopJobs } from '../../background/job-table.ts';
import { createPodcast, podcastGuid, type Podcast } from '../podcasts/podcast.ts';
import { createFetchImport, type FetchImportOptions } from './fetch-import.ts';

type ImportRules = Pick<
  Rules<typeof productCatalog>,
  | 'podcast.import_feed'
  | 'podcast.complete_import'
  | 'podcast.fail_import'
  | 'podcast.cancel_import'
  | 'podcast.publish_import'
  | 'podcast.complete_import_publication'
  | 'podcast.fail_import_publication'
  | 'podcast.retry_import'
  | 'podcast.complete_import_retry'
  | 'podcast.fail_import_retry'
>;
/** Rules of the commands that move a podcast in. */
export function importRules(options: FetchImportOptions & { readonly mediaUrl: string }): ImportRules {
  const fetchImport = createFetchImport(options);

  return {
    'podcast.import_feed': {
      prepare: async ({ workspaceId: importingTo, changes, deadline }) => {
        const { feed_url: feedUrl, publish = false } = changes;
        const { channel, artwork, feed } = await fetchImport(importingTo, feedUrl, deadline);
        const { title, language = 'en', artwork_url: _address, podcast_guid: feedGuid, ...settings } = channel.settings;
        const guid = feedGuid ?? podcastGuid(feedUrl);
        return async ({ tx, workspaceId, subjectId, now }) => {
          const known = await findImportedPodcast(tx, workspaceId, guid);
          if (known)
            throw new Problem('value_taken', `“${known.title}” is here already (${known.id}). Archive it first.`, {
              errors: [{ path: '/changes/feed_url', code: 'value_taken', detail: 'This podcast already exists here.' }],
            });
          const attributes: Podcast = {
            ...createPodcast({ ...settings, title: title!, language }, subjectId, options.mediaUrl),
            ...artwork,
            podcast_guid: guid,
            // Only a person publishes a podcast that asks directories to hide it.
            import: { feed_url: feedUrl, ...feed, done: 0, failed: 0, publish: publish && !channel.blocked },
          };
          return {
            attributes,
            also: (inner, { version }) =>
              insertJob(inner, {
                kind: 'import_feed',
                workspaceId,
                subjectType: 'podcasts',
                subjectId,
                subjectVersion: version,
                input: { feed_url: feedUrl, storage_key: feed.storage_key },
                now,
              }),
          };
        };
      },
    },

    'podcast.complete_import': ({ current, changes, subjectId, reason }) => ({
      attributes: { ...current, import: { ...current.import!, ...changes } },
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'podcast.fail_import': ({ current, changes, subjectId, reason }) => ({
      attributes: { ...current, import: { ...current.import!, ...changes } },
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'podcast.cancel_import': async ({ tx, current, subjectId }) => {
      const isImporting = await hasJob(tx, 'import_feed', subjectId);
      const kind = isImporting ? 'import_feed' : 'retry_import';
      if (!current.import || !(isImporting || (await hasJob(tx, kind, subjectId))))
        throw new Problem('state_not_allowed', 'No import of this podcast is under way.');
      const problem = { code: 'import_cancelled', detail: 'The import was cancelled.' };
      return {
        // Another try of failed items changes nothing of how the import ended.
        attributes: isImporting ? { ...current, import: { ...current.import, problem } } : current,
        also: (inner) => stopJobs(inner, subjectId, kind),
      };
    },

    'podcast.retry_import': async ({ tx, workspaceId, current, changes, subjectId, now }) => {
      await assertRetryable(tx, subjectId, current, changes.position);
      return {
        attributes: current,
        also: (inner, { version }) =>
          insertJob(inner, {
            kind: 'retry_import',
            workspaceId,
            subjectType: 'podcasts',
            subjectId,
            subjectVersion: version,
            input: changes,
            now,
          }),
      };
    },

    'podcast.complete_import_retry': ({ current, subjectId, reason }) => ({
      attributes: current,
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'podcast.fail_import_retry': ({ current, subjectId, reason }) => ({
      attributes: current,
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'podcast.publish_import': async ({ tx, workspaceId, current, subjectId, now }) => {
      if (!current.import) throw new Problem('state_not_allowed', 'This podcast was not imported.');
      if (await hasJob(tx, 'publish_import', subjectId))
        throw new Problem('state_not_allowed', 'The imported episodes are being published already.');
      return {
        attributes: { ...current, import: { ...current.import, publish: true } },
        also: (inner, { version }) =>
          insertJob(inner, {
            kind: 'publish_import',
            workspaceId,
            subjectType: 'podcasts',
            subjectId,
            subjectVersion: version,
            input: {},
            now,
          }),
      };
    },

    'podcast.complete_import_publication': ({ current, subjectId, reason }) => ({
      attributes: current,
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'podcast.fail_import_publication': ({ current, subjectId, reason }) => ({
      attributes: current,
      also: (tx) => finishJob(tx, subjectId, reason),
    }),
  };
}

/** Throws `state_not_allowed` unless an item of a podcast's import, or this one, failed and can be tried again now. */
async function assertRetryable(
  tx: Transaction,
  podcastId: string,
  podcast: Podcast,
  position: number | undefined,
): Promise<void> {
  const refuse = (detail: string) => new Problem('state_not_allowed', detail);
  if (!podcast.import) throw refuse('This podcast was not imported.');
  if (await hasJob(tx, 'import_feed', podcastId))
    throw refuse('The import is under way. When it has ended, failed items can be tried again.');
  if (await hasJob(tx, 'retry_import', podcastId)) throw refuse('Failed items are being tried again already.');
  if (await hasSilentItem(tx, podcastId, position)) return;
  throw refuse(
    position === undefined
      ? 'No episode of this import lacks its audio.'
      : `Item ${position} of the feed has no episode that lacks its audio.`,
  );
}
