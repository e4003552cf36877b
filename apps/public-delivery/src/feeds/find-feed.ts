import { renderFeed, type FeedPaging } from '@longwave/feed';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { createGate } from '@longwave/service-kit';
import { LRUCache } from 'lru-cache';
import {
  countShownEpisodes,
  findFeed,
  getShownPodcast,
  getTrailers,
  readEpisodes,
  type FeedState,
} from '../projection/feed-table.ts';
import type { PodcastAttributes } from '../projection/projected.ts';
import { createLastKnown } from '../projection/last-known.ts';
import type { DocumentCache, StoredDocument } from './document-cache.ts';
import { feedPath, toFeedEpisode, toFeedPodcast, toTrailer, type FeedSettings } from './to-feed.ts';

/** The validators of a feed. */
interface FeedVersion {
  /** SHA-256 (hex) of the document. */
  readonly digest: string;
  readonly changedAt: Date;
}

/** A feed as it is rendered. */
interface FeedDocument extends FeedVersion, StoredDocument {}

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

/** Items of one page (RFC 5005 §3). */
const pageItems = 100;
const maxTrailers = 20;
/** Documents whose digest is remembered. */
const maxVersions = 50_000;
/** Feeds whose state is remembered for when the database is away. */
const maxStates = 10_000;
/** Each rendering holds a connection and a batch of episodes. */
const maxRenderings = 2;

interface KnownDocument extends FeedDocument {
  readonly revision: string;
}

function pagingOf(feedUrl: string, page: number, pages: number): FeedPaging {
  const at = (number: number) => `${feedUrl}?page=${number}`;
  return {
    self: at(page),
    first: at(1),
    last: at(pages),
    ...(page > 1 && { previous: at(page - 1) }),
    ...(page < pages && { next: at(page + 1) }),
  };
}

/**
 * Finds the feed of a podcast by one row of the database. A document is rendered at most once per revision, in batches, and then kept
 * compressed on the disk. While the database is away, the document that was rendered last is the feed.
 */
export function createFindFeed(pool: Pool, documents: DocumentCache, settings: FeedSettings): FindFeed {
  const { mediaUrl } = settings;
  const known = new LRUCache<string, KnownDocument>({ max: maxVersions });
  const rendering = new Map<string, Promise<KnownDocument | undefined>>();
  const gate = createGate(maxRenderings);
  const lastState = createLastKnown<FeedState | undefined>(maxStates);

  async function* pieces(
    tx: Transaction,
    { podcastId, changedAt }: FeedState,
    podcast: PodcastAttributes,
    page: number | undefined,
    pages: number,
  ) {
    const trailers = await getTrailers(tx, podcastId, maxTrailers);
    const feedUrl = mediaUrl + feedPath(podcast.subdomain);
    const window = page === undefined ? undefined : { offset: (page - 1) * pageItems, limit: pageItems };
    const batches = async function* () {
      for await (const rows of readEpisodes(tx, podcastId, window))
        yield rows.map((row) => toFeedEpisode(row, podcast, mediaUrl));
    };
    yield* renderFeed(
      {
        generator: 'Longwave',
        changedAt,
        podcast: toFeedPodcast(
          podcast,
          trailers.map((row) => toTrailer(row, podcast, mediaUrl)),
          settings,
        ),
        paging: page === undefined ? undefined : pagingOf(feedUrl, page, pages),
      },
      batches(),
    );
  }

  /** From one state of the projection, which the document then is. */
  async function render(subdomain: string, page: number | undefined): Promise<KnownDocument | undefined> {
    return transaction(
      pool,
      async (tx) => {
        const state = await findFeed(tx, subdomain);
        if (state?.state !== 'published' || state.newFeedUrl !== undefined) return undefined;
        const podcast = await getShownPodcast(tx, state.podcastId);
        const episodes = page === undefined ? 0 : await countShownEpisodes(tx, state.podcastId);
        const pages = Math.max(1, Math.ceil(episodes / pageItems));
        if (page !== undefined && page > pages) return undefined;
        const stored = await documents.save(pieces(tx, state, podcast, page, pages));
        return { ...stored, changedAt: state.changedAt, revision: state.revision };
      },
      'REPEATABLE READ',
    );
  }

  function renderOnce(key: string, subdomain: string, page: number | undefined): Promise<KnownDocument | undefined> {
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
    const state = await lastState(subdomain, () => findFeed(pool, subdomain));
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
