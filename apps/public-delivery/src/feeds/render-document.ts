import { renderFeed, type FeedPaging } from '@longwave/feed';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import {
  countShownEpisodes,
  findFeeds,
  getShownPodcast,
  getTrailers,
  readEpisodes,
  type FeedState,
} from '../projection/feed-table.ts';
import type { PodcastAttributes } from '../projection/projected.ts';
import type { DocumentCache, StoredDocument } from './document-cache.ts';
import { feedPath, toFeedEpisode, toFeedPodcast, toTrailer, type FeedSettings } from './to-feed.ts';

/** The validators of a feed. */
export interface FeedVersion {
  /** SHA-256 (hex) of the document. */
  readonly digest: string;
  readonly changedAt: Date;
}

/** A rendered feed, or a page of it. */
export interface FeedDocument extends FeedVersion, StoredDocument {
  readonly revision: string;
}

/** Items of one page (RFC 5005 §3). */
const pageItems = 100;
const maxTrailers = 20;

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

/** Renders the present revision of a feed; undefined when it is not published or has no such page. */
type RenderDocument = (subdomain: string, page: number | undefined) => Promise<FeedDocument | undefined>;

/** Renders from one state of the projection, in batches of episodes, into the cache. */
export function createRenderDocument(pool: Pool, documents: DocumentCache, settings: FeedSettings): RenderDocument {
  const { mediaUrl } = settings;

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

  return (subdomain, page) =>
    transaction(
      pool,
      async (tx) => {
        const [state] = await findFeeds(tx, [subdomain]);
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
