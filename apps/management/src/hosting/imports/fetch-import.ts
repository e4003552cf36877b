import { createHash } from 'node:crypto';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import type { PrepareArtwork } from '../../outside/prepare-artwork.ts';
import { fetchFeed } from './fetch-feed.ts';
import { createFetchTurns } from './fetch-turns.ts';

export interface FetchImportOptions {
  readonly store: ObjectStore;
  readonly fetch: GuardedFetch;
  readonly prepareArtwork: PrepareArtwork;
}

/** Feeds to import that one process holds in memory at a time. */
const maxFetches = 4;
/** Milliseconds that remain for the artwork, storing and committing after the fetch. */
const reserveOfFeedMs = 6_000;
/** Milliseconds that remain for storing and committing after the artwork. */
const reserveMs = 3_000;

/**
 * Makes a function that fetches the feed of a podcast to import, stores it under its digest and prepares its artwork. Throws
 * `temporarily_unavailable` when other feeds take too long.
 */
export function createFetchImport({ store, fetch, prepareArtwork }: FetchImportOptions) {
  const takeTurn = createFetchTurns(maxFetches);

  /** Renditions of the artwork; when they cannot be made only the address is kept, and publishing says what is wrong with it. */
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

  async function fetchAndStore(feedUrl: string, deadline: Date | undefined) {
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

  return (workspaceId: string, feedUrl: string, deadline: Date | undefined) =>
    takeTurn(workspaceId, () => fetchAndStore(feedUrl, deadline));
}
