import type { Pool } from '@longwave/postgres';
import { parseOrProblem, Problem } from '@longwave/problems';
import { embedCode } from '@longwave/site';
import { z } from 'zod';
import { shownArtworkUrl, sitePath } from '../feeds/to-feed.ts';
import { publicCacheControl } from '../http/cache-control.ts';
import { episodeIdShape, subdomainShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendText } from '../http/send-text.ts';
import { findPlayerEpisode, type PlayerAddress, type PlayerEpisode } from '../projection/player-table.ts';
import { embedPath } from './to-site.ts';

const pixels = z
  .string()
  .regex(/^[1-9]\d{0,4}$/)
  .transform(Number);
/** oEmbed 1.0 §2.2. A format other than JSON is refused by its code. */
const oembedQuery = z.object({
  url: z.string().min(1).max(500),
  maxwidth: pixels.optional(),
  maxheight: pixels.optional(),
  format: z.string().max(20).optional(),
});

/** Pixels of the frame: chapters take more height than this. */
const frame = { width: 640, height: 120 };
/** A side of the picture beside a link. */
const thumbnailPixels = 600;
/** Our pictures have their side as name. */
const pictureName = /\/(\d{1,5})\.(?:jpg|png)$/;
const cacheSeconds = 3600;

/** The episode whose page, or player, has this address. */
function addressOf(url: string, mediaUrl: string): Extract<PlayerAddress, { kind: 'site' }> | undefined {
  const parsed = URL.parse(url);
  const prefix = `${mediaUrl}${sitePath('')}`;
  const plain = parsed && parsed.origin + parsed.pathname;
  if (!plain?.startsWith(prefix)) return undefined;
  const [subdomain = '', episodeId = '', last = '', ...more] = plain.slice(prefix.length).split('/');
  const isPage = (last === '' || last === 'embed') && more.every((part) => part === '');
  return isPage && subdomainShape.test(subdomain) && episodeIdShape.test(episodeId)
    ? { kind: 'site', subdomain, episodeId }
    : undefined;
}

function documentOf(episode: PlayerEpisode, src: string, mediaUrl: string, most: { width: number; height: number }) {
  const { attributes, podcast } = episode;
  const size = { width: Math.min(frame.width, most.width), height: Math.min(frame.height, most.height) };
  const picture = shownArtworkUrl(attributes.artwork ? attributes : podcast, mediaUrl, thumbnailPixels);
  const [, side] = (picture?.startsWith(`${mediaUrl}/`) && pictureName.exec(picture)) || [];
  const page = mediaUrl + sitePath(podcast.subdomain);
  return {
    version: '1.0',
    type: 'rich',
    title: attributes.title,
    author_name: podcast.title,
    author_url: page,
    provider_name: podcast.title,
    provider_url: page,
    cache_age: cacheSeconds,
    ...(side !== undefined && {
      thumbnail_url: picture,
      thumbnail_width: Number(side),
      thumbnail_height: Number(side),
    }),
    ...size,
    html: embedCode({ src, title: attributes.title, ...size }),
  };
}

/** The player of an episode for a page that is given the address of the episode's own page (oEmbed 1.0): 404 for any other, 501 for XML. */
export function oembedRoutes({ pool, mediaUrl }: { readonly pool: Pool; readonly mediaUrl: string }): readonly Route[] {
  async function get(exchange: Exchange): Promise<void> {
    const {
      url,
      maxwidth = Infinity,
      maxheight = Infinity,
      format = 'json',
    } = parseOrProblem(oembedQuery, exchange.query);
    if (format !== 'json') throw new Problem('validation_failed', undefined, { status: 501 });
    const address = addressOf(url, mediaUrl);
    const found = address && (await findPlayerEpisode(pool, address));
    if (!found || found === 'ended') throw new Problem('not_found');
    const src = mediaUrl + embedPath(address.subdomain, address.episodeId);
    const document = documentOf(found, src, mediaUrl, { width: maxwidth, height: maxheight });
    await sendText(exchange, JSON.stringify(document), {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': publicCacheControl,
      'x-content-type-options': 'nosniff',
    });
  }
  return [{ name: 'oembed.read', path: '/oembed', get }];
}
