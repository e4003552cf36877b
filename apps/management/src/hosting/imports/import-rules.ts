import { createHash } from 'node:crypto';
import type { productCatalog } from '@longwave/command-catalog';
import { findImportedPodcast } from './import-table.ts';
import type { Rules } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { createGate, createGates } from '@longwave/service-kit';
import { finishJob, hasJob, insertJob } from '../../background/job-table.ts';
import { createPodcast, podcastGuid, type Podcast } from '../podcasts/podcast.ts';
import type { PrepareArtwork } from '../../outside/prepare-artwork.ts';
import { fetchFeed } from './fetch-feed.ts';

type ImportRules = Pick<
  Rules<typeof productCatalog>,
  | 'podcast.import_feed'
  | 'podcast.complete_import'
  | 'podcast.fail_import'
  | 'podcast.publish_import'
  | 'podcast.complete_import_publication'
  | 'podcast.fail_import_publication'
>;
/** Feeds that are held in memory at a time. */
const fetchesMax = 4;
/** How long a caller waits for its turn; a fetch must still fit before its deadline. */
const turnWaitMs = 6_000;
/** What a caller's deadline must leave for the artwork, storing and committing. */
const reserveOfFeedMs = 6_000;
/** What it must leave for storing and committing. */
const reserveMs = 3_000;

/** Rules of the commands that move a podcast in. */
export function importRules(options: {
  readonly store: ObjectStore;
  readonly mediaUrl: string;
  readonly fetch: GuardedFetch;
  readonly prepareArtwork: PrepareArtwork;
}): ImportRules {
  const { store, mediaUrl, fetch, prepareArtwork } = options;
  const gate = createGate(fetchesMax);
  // So that the slow feeds of one workspace leave places to the others.
  const gateOfWorkspace = createGates(1);

  /** Renditions of the artwork; without them the address is remembered, and publishing says what is wrong with it. */
  async function tryArtwork(sourceUrl: string | undefined, deadline: Date | undefined) {
    if (sourceUrl === undefined) return {};
    try {
      const until = deadline && new Date(deadline.getTime() - reserveMs);
      return { artwork_url: sourceUrl, artwork: await prepareArtwork({ sourceUrl }, until) };
    } catch (error) {
      if (error instanceof Problem) return { artwork_url: sourceUrl };
      throw error;
    }
  }

  async function importFeed(feedUrl: string, deadline: Date | undefined) {
    const { bytes, channel, itemCount } = await fetchFeed(fetch, feedUrl, {
      now: () => Date.now(),
      endsAtMs: deadline && deadline.getTime() - reserveOfFeedMs,
    });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const storageKey = `imports/${sha256}.xml`;
    await store.put(storageKey, bytes, { contentType: 'application/rss+xml', sizeBytes: bytes.length });
    const artwork = await tryArtwork(channel.settings.artwork_url, deadline);
    return { channel, artwork, feed: { storage_key: storageKey, sha256, total: itemCount } };
  }

  return {
    'podcast.import_feed': {
      prepare: async ({ workspaceId: importingTo, changes, deadline }) => {
        const { feed_url: feedUrl, publish = false } = changes;
        const turn = AbortSignal.timeout(turnWaitMs);
        const fetching = gateOfWorkspace(importingTo)(() => gate(() => importFeed(feedUrl, deadline), turn), turn);
        const { channel, artwork, feed } = await fetching.catch((error: unknown) => {
          if (error !== turn.reason) throw error;
          throw new Problem('temporarily_unavailable', 'Other feeds are being fetched. Try again in a moment.', {
            retryAfterSeconds: 5,
          });
        });
        const { title, language = 'en', artwork_url: _address, podcast_guid: given, ...settings } = channel.settings;
        const guid = given ?? podcastGuid(feedUrl);
        return async ({ tx, workspaceId, subjectId, now }) => {
          const known = await findImportedPodcast(tx, workspaceId, guid);
          if (known)
            throw new Problem('value_taken', `“${known.title}” is here already (${known.id}). Archive it first.`, {
              errors: [{ path: '/changes/feed_url', code: 'value_taken', detail: 'This podcast already exists here.' }],
            });
          const attributes: Podcast = {
            ...createPodcast({ ...settings, title: title!, language }, subjectId, mediaUrl),
            ...artwork,
            podcast_guid: guid,
            // What asks directories to hide it is published by a person only.
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
