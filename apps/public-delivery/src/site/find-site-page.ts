import { inBatches, transaction, type Pool, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { createGate, type Logger } from '@longwave/service-kit';
import { maxSitemapUrls, renderEpisodePage, renderShowPage, renderSitemap } from '@longwave/site';
import type { Transcript } from '@longwave/transcript';
import { LRUCache } from 'lru-cache';
import { sitePath } from '../feeds/to-feed.ts';
import { prepareText, type PreparedText } from '../http/send-text.ts';
import { countShownEpisodes, findFeeds, getShownPodcast, type FeedState } from '../projection/feed-table.ts';
import { createLastKnown } from '../projection/last-known.ts';
import type { PodcastAttributes } from '../projection/projected.ts';
import { findSiteEpisode, listSiteEpisodeIds, listSiteEpisodes } from '../projection/site-table.ts';
import { createSharedWork } from './shared-work.ts';
import { chooseTranscript, siteEpisodePath, toSiteDetails, toSiteEpisode, toSiteShow } from './to-site.ts';

/** Which page of a podcast. */
export type SitePageName =
  | { readonly kind: 'show'; readonly page: number }
  | { readonly kind: 'episode'; readonly episodeId: string }
  | { readonly kind: 'sitemap' };

type FoundSitePage =
  | { readonly kind: 'shown'; readonly text: PreparedText }
  /** The podcast is elsewhere now. */
  | { readonly kind: 'moved'; readonly url: string };

/**
 * Rejects with `not_found` for a page that is not public, and with `temporarily_unavailable` while too many pages wait. `leaving` aborts when
 * the client does not wait any more.
 */
export type FindSitePage = (subdomain: string, name: SitePageName, leaving: AbortSignal) => Promise<FoundSitePage>;

export interface SitePagesOptions {
  readonly pool: Pool;
  readonly readTranscript: (key: string) => Promise<Transcript>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

const pageEpisodes = 30;
/** Each holds a connection; the others are for listeners, who come before those that read every page. */
const maxReads = 4;
/** Pages that are read, wait for that, or wait for a transcript. */
const maxRenderings = maxReads + 100;
/** Of pages that are kept, and as much of sitemaps, of which one of 50,000 episodes has 5 million: they push no pages out. */
const maxBytes = 1 << 24;
/** Pages that are known not to be there. */
const maxAbsent = 10_000;
/** Podcasts whose state is remembered for when the database is away. */
const maxStates = 10_000;

/** A page, and whether all that it shows could be read. */
interface RenderedPage {
  readonly text: string;
  readonly isWhole: boolean;
}
/** Undefined for a page that is not there. */
type Render = (() => Promise<RenderedPage>) | undefined;

const createKept = () =>
  new LRUCache<string, PreparedText>({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes.length });

const keyOf = (revision: string, name: SitePageName) => `${revision}:${Object.values(name).join(':')}`;

/** Where a podcast that has moved is: its own page, else its new feed. Its page here would lead to itself. */
function placeOf(podcast: PodcastAttributes, newFeedUrl: string, mediaUrl: string): string {
  const own = mediaUrl + sitePath(podcast.subdomain);
  const isOwn = (url: string) => url === own || url.startsWith(`${own}/`) || url.startsWith(`${own}?`);
  const link = podcast.link === undefined ? undefined : new URL(podcast.link).href;
  return link === undefined || isOwn(link) ? new URL(newFeedUrl).href : link;
}

/**
 * Finds the pages of podcasts. What they show is what the feed shows, so a page is rendered once per revision of the feed, however many ask,
 * and kept in memory; each request asks for the state of the feed. While the database is away, pages that are kept are shown as they were.
 */
export function createFindSitePage({ pool, readTranscript, logger, mediaUrl }: SitePagesOptions): FindSitePage {
  const [pages, sitemaps] = [createKept(), createKept()];
  const keptOf = ({ kind }: SitePageName) => (kind === 'sitemap' ? sitemaps : pages);
  const absent = new LRUCache<string, true>({ max: maxAbsent });
  const share = createSharedWork<FoundSitePage>(maxRenderings);
  const gate = createGate(maxReads);
  const lastState = createLastKnown<FeedState | undefined>(maxStates);
  const findState = inBatches((subdomains: readonly string[]) => findFeeds(pool, subdomains));

  /** The transcript; undefined, with a line in the log, while the store does not give it. */
  async function tryTranscript(key: string | undefined): Promise<Transcript | undefined> {
    if (key === undefined) return undefined;
    return readTranscript(key).catch((error: unknown) => {
      logger.warn({ err: error }, 'site.transcript_unavailable');
      return undefined;
    });
  }

  async function readShow(
    tx: Transaction,
    podcastId: string,
    podcast: PodcastAttributes,
    page: number,
  ): Promise<Render> {
    const pages = Math.max(1, Math.ceil((await countShownEpisodes(tx, podcastId)) / pageEpisodes));
    if (page > pages) return undefined;
    const rows = await listSiteEpisodes(tx, podcastId, { offset: (page - 1) * pageEpisodes, limit: pageEpisodes });
    const episodes = rows.map((row) => toSiteEpisode(row, podcast, mediaUrl));
    return async () => ({
      text: renderShowPage(toSiteShow(podcast, mediaUrl), { episodes, page, pages }),
      isWhole: true,
    });
  }

  async function readEpisode(
    tx: Transaction,
    podcastId: string,
    podcast: PodcastAttributes,
    id: string,
  ): Promise<Render> {
    const row = await findSiteEpisode(tx, podcastId, id);
    if (!row) return undefined;
    return async () => {
      const chosen = chooseTranscript(row, podcast);
      const transcript = await tryTranscript(chosen?.storage_key);
      const details = toSiteDetails(row, chosen?.language, transcript);
      const text = renderEpisodePage(toSiteShow(podcast, mediaUrl), toSiteEpisode(row, podcast, mediaUrl), details);
      return { text, isWhole: chosen === undefined || transcript !== undefined };
    };
  }

  async function readMap(tx: Transaction, podcastId: string, { subdomain }: PodcastAttributes): Promise<Render> {
    const ids = await listSiteEpisodeIds(tx, podcastId, maxSitemapUrls - 1);
    const paths = [sitePath(subdomain), ...ids.map((id) => siteEpisodePath(subdomain, id))];
    return async () => ({ text: renderSitemap(paths.map((path) => mediaUrl + path)), isWhole: true });
  }

  function readPage(tx: Transaction, podcastId: string, podcast: PodcastAttributes, name: SitePageName) {
    if (name.kind === 'show') return readShow(tx, podcastId, podcast, name.page);
    if (name.kind === 'episode') return readEpisode(tx, podcastId, podcast, name.episodeId);
    return readMap(tx, podcastId, podcast);
  }

  /** Reads one state of the projection. The page is rendered behind it, because it may wait for the object store. */
  const read = (subdomain: string, name: SitePageName) =>
    transaction(
      pool,
      async (tx) => {
        const [state] = await findFeeds(tx, [subdomain]);
        if (state?.state !== 'published') throw new Problem('not_found');
        const { podcastId, newFeedUrl, revision } = state;
        const podcast = await getShownPodcast(tx, podcastId);
        if (newFeedUrl !== undefined) return { kind: 'moved', url: placeOf(podcast, newFeedUrl, mediaUrl) } as const;
        return { kind: 'read', revision, render: await readPage(tx, podcastId, podcast, name) } as const;
      },
      'REPEATABLE READ',
    );

  async function render(subdomain: string, name: SitePageName, abandoned: AbortSignal): Promise<FoundSitePage> {
    const found = await gate(() => read(subdomain, name), abandoned);
    if (found.kind === 'moved') return found;
    const key = keyOf(found.revision, name);
    const page = await found.render?.();
    if (!page) {
      absent.set(key, true);
      throw new Problem('not_found');
    }
    const text = prepareText(page.text);
    if (page.isWhole) keptOf(name).set(key, text);
    return { kind: 'shown', text };
  }

  return async (subdomain, name, leaving) => {
    const state = await lastState(subdomain, () => findState(subdomain));
    if (state?.state !== 'published') throw new Problem('not_found');
    const key = keyOf(state.revision, name);
    if (absent.get(key)) throw new Problem('not_found');
    const text = state.newFeedUrl === undefined ? keptOf(name).get(key) : undefined;
    if (text !== undefined) return { kind: 'shown', text };
    return share(key, (abandoned) => render(subdomain, name, abandoned), leaving);
  };
}
