import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { renderFeed, type FeedEpisode } from '@longwave/feed';
import { transaction, type Pool } from '@longwave/postgres';
import { findFeedKey, getFeedRows, type FeedEpisodeRow, type FeedRows } from '../projection/content-table.ts';

/** A feed as it goes over the wire. */
export interface RenderedFeed {
  readonly key: string;
  readonly changedAt: Date;
  /** SHA-256 (hex) of `body`. */
  readonly digest: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

export type FindFeed = (subdomain: string) => Promise<RenderedFeed | undefined>;

const compress = promisify(gzip);
/** Bytes of rendered feeds kept in memory. */
const cacheBytesMax = 64 << 20;

export const enclosurePath = (alias: string, fileName: string): string => `/delivery/v1/e/${alias}/${fileName}.mp3`;

function toFeedEpisode(
  { attributes, publishedAt, alias, fileName, rendition }: FeedEpisodeRow,
  mediaUrl: string,
): FeedEpisode {
  const { guid, title, type, description, link, season, number, explicit, artwork_url: artworkUrl } = attributes;
  return {
    guid,
    title,
    type,
    description,
    link,
    season,
    number,
    explicit,
    artworkUrl,
    publishedAt,
    durationMs: rendition.durationMs,
    enclosure: {
      url: mediaUrl + enclosurePath(alias, fileName),
      lengthBytes: rendition.sizeBytes,
      contentType: 'audio/mpeg',
    },
  };
}

function toXml({ podcast, changedAt, episodes }: FeedRows, mediaUrl: string): string {
  const feedUrl = `${mediaUrl}/feeds/${podcast.subdomain}.xml`;
  const { title, description, language, categories, explicit, type, locked, author, copyright } = podcast;
  return renderFeed({
    generator: 'Longwave',
    changedAt,
    podcast: {
      ...{ title, description, language, categories, explicit, type, locked, author, copyright, feedUrl },
      medium: 'podcast',
      guid: podcast.podcast_guid,
      link: podcast.link ?? feedUrl,
      ownerName: podcast.owner_name,
      artworkUrl: podcast.artwork_url,
    },
    episodes: episodes.map((episode) => toFeedEpisode(episode, mediaUrl)),
  });
}

/**
 * Finds the feed of a published podcast. Rendered once per state of the projection and kept in memory, so that an unchanged feed
 * costs one small query.
 * @param mediaUrl without a slash at the end
 */
export function createFindFeed(pool: Pool, mediaUrl: string): FindFeed {
  const cache = new Map<string, RenderedFeed>();
  let cacheBytes = 0;
  const sizeOf = (feed: RenderedFeed | undefined) => (feed ? feed.body.length + feed.gzipped.length : 0);

  function keep(podcastId: string, feed: RenderedFeed): void {
    cacheBytes += sizeOf(feed) - sizeOf(cache.get(podcastId));
    cache.delete(podcastId);
    cache.set(podcastId, feed);
    while (cacheBytes > cacheBytesMax && cache.size > 1) {
      const [oldest] = cache.keys();
      cacheBytes -= sizeOf(cache.get(oldest!));
      cache.delete(oldest!);
    }
  }

  async function render(subdomain: string): Promise<RenderedFeed | undefined> {
    const read = await transaction(
      pool,
      async (tx) => {
        const found = await findFeedKey(tx, subdomain);
        return found && { ...found, rows: await getFeedRows(tx, found.podcastId) };
      },
      'REPEATABLE READ',
    );
    if (!read) return undefined;
    const body = Buffer.from(toXml(read.rows, mediaUrl), 'utf8');
    const digest = createHash('sha256').update(body).digest('hex');
    const feed = { key: read.key, changedAt: read.rows.changedAt, digest, body, gzipped: await compress(body) };
    keep(read.podcastId, feed);
    return feed;
  }

  return async (subdomain) => {
    const found = await findFeedKey(pool, subdomain);
    if (!found) return undefined;
    const cached = cache.get(found.podcastId);
    return cached?.key === found.key ? cached : render(subdomain);
  };
}
