import { createHash } from 'node:crypto';
import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { escapeXml } from '@longwave/xml';
import { parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendPage } from '../http/send-page.ts';
import { findPlayerEpisode, type PlayerEpisode } from '../projection/player-table.ts';
import { enclosurePath, shownArtworkUrl, sitePath } from './to-feed.ts';

/** The artwork beside the title and the player, so that a frame of 120 pixels holds them; chapters below. */
const style = [
  ':root{color-scheme:light dark;font:16px/1.3 system-ui,sans-serif}',
  'body{margin:12px}',
  'main{display:grid;grid-template-columns:auto 1fr;gap:2px 12px;align-items:center}',
  'img{grid-row:1/4;width:96px;height:96px;border-radius:6px}',
  'h1,p,audio,ol{grid-column:2;margin:0;min-width:0}',
  'h1{font-size:1.1rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}',
  'audio{width:100%;height:40px}',
  'ol{margin-top:8px;padding-left:1.6em}',
].join('');
const styleDigest = createHash('sha256').update(style).digest('base64');

/** Everything is here, and any page may frame it. */
const policy = `style-src 'sha256-${styleDigest}'; img-src 'self'; media-src 'self'; frame-ancestors *`;

/** Pixels of a side that a sharp screen needs for the artwork. */
const artworkPixels = 192;

const maxPageBytes = 12_000;
const more = '<li>…</li>';

/** The chapters as items of a list, in at most so many bytes. Their times depend on the ads of the listener, so none are shown. */
function chapterItems(titles: readonly string[], maxBytes: number): string[] {
  const items: string[] = [];
  let left = maxBytes - more.length;
  for (const title of titles) {
    const item = `<li>${escapeXml(title)}</li>`;
    left -= Buffer.byteLength(item) + 1;
    if (left < 0) return [...items, more];
    items.push(item);
  }
  return items;
}

/** A player of an episode for pages of others, without scripts. Nothing is played, and no ad decided, before the listener asks for it. */
function renderPlayer(episode: PlayerEpisode, mediaUrl: string): string {
  const { podcast, attributes, chapterTitles } = episode;
  const title = escapeXml(attributes.title);
  const artwork = shownArtworkUrl(attributes.artwork ? attributes : podcast, mediaUrl, artworkPixels);
  const page = podcast.link ?? mediaUrl + sitePath(podcast.subdomain);
  const head = [
    '<!doctype html>',
    `<html lang="${escapeXml(podcast.language)}">`,
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`,
    `<link rel="icon" href="data:,"><style>${style}</style></head>`,
    '<body><main>',
    // A picture on another host would tell it who listens.
    ...(artwork?.startsWith(`${mediaUrl}/`) ? [`<img src="${escapeXml(artwork)}" alt="">`] : []),
    `<h1>${title}</h1>`,
    `<p><a href="${escapeXml(page)}" target="_blank" rel="noopener">${escapeXml(podcast.title)}</a></p>`,
    `<audio controls preload="none" src="${escapeXml(mediaUrl + enclosurePath(episode))}"></audio>`,
  ];
  const tail = ['</main></body></html>', ''];
  const list = ['<ol>', '</ol>'];
  const used = Buffer.byteLength([...head, ...list, ...tail].join('\n'));
  const items = chapterItems(chapterTitles, maxPageBytes - used - 1);
  return [...head, ...(items.length > 0 ? [list[0], ...items, list[1]] : []), ...tail].join('\n');
}

/**
 * Players of published episodes: 404 for one that is not public, whose audio is hosted outside, or whose podcast another platform hosts;
 * 410 once it was archived.
 */
export function playerRoutes({ pool, mediaUrl }: { readonly pool: Pool; readonly mediaUrl: string }): readonly Route[] {
  async function get(exchange: Exchange): Promise<void> {
    const found = await findPlayerEpisode(pool, parameter(exchange, 'alias', tokenShape));
    if (found === 'ended') throw new Problem('resource_gone');
    if (!found) throw new Problem('not_found');
    sendPage(exchange, renderPlayer(found, mediaUrl), policy);
  }
  return [{ name: 'player.read', path: '/delivery/v1/e/:alias/player', get }];
}
