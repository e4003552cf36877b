import { escapeXml } from '@longwave/xml';
import { Problem } from '@longwave/problems';
import { transaction, type Pool } from '@longwave/postgres';
import { feedPath, shownArtworkUrl } from './to-feed.ts';
import { findFeeds, getShownPodcast } from '../projection/feed-table.ts';
import type { PodcastAttributes } from '../projection/projected.ts';
import { parameter } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendPage } from '../http/send-page.ts';

const subdomainShape = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Artwork may be anywhere; no page frames it. */
const policy = "img-src * data:; frame-ancestors 'none'";

/** The words of a text that may hold markup. */
const plainText = (markup: string): string =>
  markup
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** A page that says what the podcast is and where its feed is; without scripts and styles. */
function renderSite(podcast: PodcastAttributes, mediaUrl: string): string {
  const { title, author, description, language, subdomain } = podcast;
  const feedUrl = escapeXml(mediaUrl + feedPath(subdomain));
  const artwork = shownArtworkUrl(podcast, mediaUrl);
  // References that the description holds as markup stay references.
  const words = escapeXml(plainText(description)).replace(/&amp;(#?\w{1,32};)/g, '&$1');
  return [
    '<!doctype html>',
    `<html lang="${escapeXml(language)}">`,
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeXml(title)}</title>`,
    '<link rel="icon" href="data:,">',
    `<link rel="alternate" type="application/rss+xml" title="${escapeXml(title)}" href="${feedUrl}"></head>`,
    `<body><main><h1>${escapeXml(title)}</h1>`,
    ...(author === undefined ? [] : [`<p>${escapeXml(author)}</p>`]),
    ...(artwork === undefined ? [] : [`<p><img src="${escapeXml(artwork)}" alt="" width="300" height="300"></p>`]),
    `<p>${words}</p>`,
    `<p><a href="${feedUrl}">RSS feed</a></p>`,
    '</main></body></html>',
    '',
  ].join('\n');
}

/** The page of a published podcast, for feeds that name no page of their own: 404 while it is not public, 410 once it was archived. */
export function siteRoutes({ pool, mediaUrl }: { readonly pool: Pool; readonly mediaUrl: string }): readonly Route[] {
  async function get(exchange: Exchange): Promise<void> {
    const subdomain = parameter(exchange, 'subdomain', subdomainShape);
    const page = await transaction(pool, async (tx) => {
      const [state] = await findFeeds(tx, [subdomain]);
      if (state?.state === 'archived') throw new Problem('resource_gone');
      if (state?.state !== 'published') throw new Problem('not_found');
      return renderSite(await getShownPodcast(tx, state.podcastId), mediaUrl);
    });
    sendPage(exchange, page, policy);
  }
  return [{ name: 'site.read', path: '/site/:subdomain', get }];
}
