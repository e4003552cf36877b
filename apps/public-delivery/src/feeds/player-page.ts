import { createHash } from 'node:crypto';
import { escapeXml } from '@longwave/xml';
import { playerScript } from '../generated/player-script.ts';
import type { PlayerEpisode } from '../projection/player-table.ts';
import { enclosurePath, playlistPath, shownArtworkUrl, sitePath } from './to-feed.ts';

/** The artwork beside the title and the player, so that a frame of 120 pixels holds them; chapters below. */
const style = [
  ':root{color-scheme:light dark;font:16px/1.3 system-ui,sans-serif}',
  'body{margin:12px}',
  'main{display:grid;grid-template-columns:auto 1fr;gap:2px 12px;align-items:center}',
  'img{grid-row:1/4;width:96px;height:96px;border-radius:6px}',
  'h1,p,audio,#p,ol{grid-column:2;margin:0;min-width:0}',
  'h1{font-size:1.1rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}',
  'audio{width:100%;height:40px}',
  'ol{margin-top:8px;padding-left:1.6em}',
].join('');

/** Of the controls that the script shows. Their pictures are drawn, because letters look different on every machine. */
const controlStyle = [
  '[hidden]{display:none!important}',
  '#p{display:flex;gap:10px;align-items:center;height:40px}',
  'button{flex:none;width:40px;height:40px;padding:0;border:0;border-radius:50%;background:CanvasText;color:Canvas;cursor:pointer}',
  'button:focus-visible,input:focus-visible{outline:3px solid Highlight;outline-offset:2px}',
  'button::before{content:"";display:block;width:14px;height:16px;margin:auto;background:currentColor;clip-path:polygon(14% 0,100% 50%,14% 100%)}',
  '[aria-label=Pause]::before{clip-path:polygon(0 0,36% 0,36% 100%,64% 100%,64% 0,100% 0,100% 100%,0 100%)}',
  'input{flex:1;min-width:0;accent-color:CanvasText}',
  '#s,time{line-height:1.2;font-size:.9rem}',
  '#s:empty,time:empty{display:none}',
  'time{margin-left:auto;white-space:nowrap;font-variant-numeric:tabular-nums}',
].join('');

const controls = [
  '<div id="p" role="group" aria-label="Player" lang="en" hidden><button type="button" aria-label="Play"></button>',
  '<input type="range" min="0" max="0" value="0" aria-label="Position"><span id="s" role="status"></span><time></time></div>',
].join('');

/** Pixels of a side that a sharp screen needs for the artwork. */
const artworkPixels = 192;

const maxPageBytes = 12_000;
const more = '<li>…</li>';

/** The most bytes, as they are written, of the title of the episode, which is there twice, of that of the podcast, and of its link. */
const maxTitleBytes = 500;
const maxPodcastTitleBytes = 300;
const maxLinkBytes = 500;

const ellipsis = '…';
const sizeOf = (text: string) => Buffer.byteLength(text);

/** A text escaped, in at most so many bytes; one that is longer is cut between two code points. */
function cutXml(text: string, maxBytes: number): string {
  const whole = escapeXml(text);
  if (sizeOf(whole) <= maxBytes) return whole;
  let left = maxBytes - sizeOf(ellipsis);
  let cut = '';
  for (const character of text) {
    const escaped = escapeXml(character);
    left -= sizeOf(escaped);
    if (left < 0) break;
    cut += escaped;
  }
  return cut + ellipsis;
}

const digestOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const styles = { plain: style, playing: style + controlStyle };
const pageDigests = {
  plain: digestOf(styles.plain),
  playing: digestOf(styles.playing),
  script: digestOf(playerScript),
};

/** What a page of strangers' words may do. Everything is here, and any page may frame it. */
const policies = {
  plain: `style-src ${pageDigests.plain}; img-src 'self' data:; media-src 'self'; frame-ancestors *`,
  playing: `style-src ${pageDigests.playing}; script-src ${pageDigests.script}; connect-src 'self'; img-src 'self' data:; media-src 'self' blob:; frame-ancestors *`,
};

/** The chapters as items of a list, in at most so many bytes. Their times depend on the ads of the listener, so none are shown. */
function chapterItems(titles: readonly string[], maxBytes: number): string[] {
  const items: string[] = [];
  let left = maxBytes - sizeOf(more) - 1;
  for (const title of titles) {
    const item = `<li>${escapeXml(title)}</li>`;
    left -= sizeOf(item) + 1;
    if (left < 0) return items.length > 0 ? [...items, more] : [];
    items.push(item);
  }
  return items;
}

/**
 * A player of an episode for pages of others, of at most 12 kB: titles are cut, and a link that is too long is that of our own page. It plays by HLS where the episode has a presentation and the browser can, else
 * the MP3 in the browser's own controls. Nothing is played, and no ad decided, before the listener asks for it.
 */
export function renderPlayerPage(
  episode: PlayerEpisode,
  mediaUrl: string,
): { readonly html: string; readonly policy: string } {
  const { podcast, attributes, chapterTitles, hasPresentation } = episode;
  const kind = hasPresentation ? 'playing' : 'plain';
  const title = cutXml(attributes.title, maxTitleBytes);
  const artwork = shownArtworkUrl(attributes.artwork ? attributes : podcast, mediaUrl, artworkPixels);
  const ownPage = mediaUrl + sitePath(podcast.subdomain);
  const page = podcast.link !== undefined && sizeOf(escapeXml(podcast.link)) <= maxLinkBytes ? podcast.link : ownPage;
  // A picture on another host would tell it who listens.
  const picture =
    artwork?.startsWith(`${mediaUrl}/`) && sizeOf(escapeXml(artwork)) <= maxLinkBytes ? artwork : undefined;
  const source = escapeXml(mediaUrl + enclosurePath(episode));
  const byHls = hasPresentation ? ` data-hls="${escapeXml(mediaUrl + playlistPath(episode))}"` : '';
  const head = [
    '<!doctype html>',
    `<html lang="${escapeXml(podcast.language)}">`,
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`,
    `<link rel="icon" href="data:,"><style>${styles[kind]}</style></head>`,
    '<body><main>',
    ...(picture === undefined ? [] : [`<img src="${escapeXml(picture)}" alt="">`]),
    `<h1>${title}</h1>`,
    `<p><a href="${escapeXml(page)}" target="_blank" rel="noopener">${cutXml(podcast.title, maxPodcastTitleBytes)}</a></p>`,
    `<audio controls preload="none" src="${source}"${byHls}></audio>`,
    ...(hasPresentation ? [controls] : []),
  ];
  const tail = [`</main>${hasPresentation ? `<script>${playerScript}</script>` : ''}</body></html>`, ''];
  const list = ['<ol>', '</ol>'];
  const used = sizeOf([...head, ...list, ...tail].join('\n'));
  const items = chapterItems(chapterTitles, maxPageBytes - used - 1);
  const html = [...head, ...(items.length > 0 ? [list[0], ...items, list[1]] : []), ...tail].join('\n');
  return { html, policy: policies[kind] };
}
