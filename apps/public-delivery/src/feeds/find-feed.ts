import { inBatches, type Pool } from '@longwave/postgres';
import { createGate } from '@longwave/service-kit';
import { LRUCache } from 'lru-cache';
import { findFeeds, type FeedState } from '../projection/feed-table.ts';
import { createLastKnown } from '../projection/last-known.ts';
import type { DocumentCache } from './document-cache.ts';
import { createRenderDocument, type FeedDocument, type FeedVersion } from './render-document.ts';
import type { FeedSettings } from './to-feed.ts';

type FoundFeed =
  | { readonly kind: 'missing' }
  /** The podcast was archived. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'moved'; readonly url: string }
  | {
      readonly kind: 'shown';
      readonly version: FeedVersion;
      /** The document; rendered `again` when its file was lost. Undefined when the feed went away meanwhile. */
      readonly document: (again: boolean) => Promise<FeedDocument | undefined>;
      readonly open: DocumentCache['open'];
    };

/** @param page of the paged feed, from 1; undefined for the whole feed in one document */
export type FindFeed = (subdomain: string, page: number | undefined) => Promise<FoundFeed>;

/** Documents whose digest is remembered. */
const maxVersions = 50_000;
/** Feeds whose state is remembered for when the database is away. */
const maxStates = 10_000;
/** Each rendering holds a connection and a batch of episodes. */
const maxRenderings = 2;

/**
 * Finds the feed of a podcast by one row of the database; requests of one moment share the question. A document is rendered at most
 * once per revision, in batches, and then kept
 * compressed on the disk. While the database is away, the document that was rendered last is the feed.
 */
export function createFindFeed(pool: Pool, documents: DocumentCache, settings: FeedSettings): FindFeed {
  const render = createRenderDocument(pool, documents, settings);
  const known = new LRUCache<string, FeedDocument>({ max: maxVersions });
  const rendering = new Map<string, Promise<FeedDocument | undefined>>();
  const gate = createGate(maxRenderings);
  const lastState = createLastKnown<FeedState | undefined>(maxStates);
  // A question begins after the requests that it answers, so each sees every change that was made before it.
  const findState = inBatches((subdomains: readonly string[]) => findFeeds(pool, subdomains));

  function renderOnce(key: string, subdomain: string, page: number | undefined): Promise<FeedDocument | undefined> {
    const running = rendering.get(key);
    if (running) return running;
    const started = gate(() => render(subdomain, page))
      .then((document) => {
        known.set(key, document);
        return document;
      })
      .finally(() => rendering.delete(key));
    rendering.set(key, started);
    return started;
  }

  return async (subdomain, page) => {
    const state = await lastState(subdomain, () => findState(subdomain));
    if (state?.state === 'archived') return { kind: 'ended' };
    if (state?.state !== 'published') return { kind: 'missing' };
    if (state.newFeedUrl !== undefined) return { kind: 'moved', url: state.newFeedUrl };
    const key = `${state.podcastId}:${page ?? ''}`;
    const latest = known.get(key);
    const fresh = latest?.revision === state.revision ? latest : await renderOnce(key, subdomain, page);
    if (!fresh) return { kind: 'missing' };
    return {
      kind: 'shown',
      version: fresh,
      document: async (again) => (again ? renderOnce(key, subdomain, page) : fresh),
      open: documents.open,
    };
  };
}
