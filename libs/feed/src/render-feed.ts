import type { Feed, FeedEpisode, FeedPodcast } from './feed.ts';
import { cdataElement, element, emptyElement, legalText, textElement } from './xml.ts';

const namespaces = {
  version: '2.0',
  'xmlns:atom': 'http://www.w3.org/2005/Atom',
  'xmlns:content': 'http://purl.org/rss/1.0/modules/content/',
  'xmlns:itunes': 'http://www.itunes.com/dtds/podcast-1.0.dtd',
  'xmlns:podcast': 'https://podcastindex.org/namespace/1.0',
};

/** Longest text of a node where PSP-1 states no other bound. */
const nodeCharacters = 255;
/** Longest description (PSP-1, channel and item). */
const descriptionBytes = 4000;

/** The text, cut at whole characters to at most `limit` of them. */
function clip(text: string | undefined): string | undefined {
  return text === undefined ? undefined : [...legalText(text)].slice(0, nodeCharacters).join('');
}

/** The text, cut at a whole character to at most 4000 bytes of UTF-8. */
export function clipDescription(text: string): string {
  const bytes = Buffer.from(legalText(text), 'utf8');
  if (bytes.length <= descriptionBytes) return bytes.toString('utf8');
  let end = descriptionBytes;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8');
}

/** A URL in ASCII, as Apple asks; characters that are ASCII already stay as they are. */
export function asciiUrl(url: string): string {
  return legalText(url).replace(/[^\u0021-\u007e]+/g, (text) => encodeURIComponent(text));
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number) => String(value).padStart(2, '0');

/** RFC 2822 §3.3 date-time in UTC. */
export function rfc2822Date(at: Date): string {
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':');
  const date = `${two(at.getUTCDate())} ${months[at.getUTCMonth()]} ${String(at.getUTCFullYear()).padStart(4, '0')}`;
  return `${weekdays[at.getUTCDay()]}, ${date} ${time} +0000`;
}

/** Subcategories stand inside their parent, each parent once. */
function categoryLines(categories: readonly string[]): readonly string[] {
  const children = new Map<string, string[]>();
  for (const category of categories) {
    const [parent = '', child] = category.split(' > ');
    const known = children.get(parent) ?? [];
    children.set(parent, child && !known.includes(child) ? [...known, child] : known);
  }
  return [...children].flatMap(([parent, names]) =>
    names.length === 0
      ? [emptyElement('itunes:category', { text: parent })]
      : element(
          'itunes:category',
          { text: parent },
          names.map((text) => emptyElement('itunes:category', { text })),
        ),
  );
}

const imageLines = (url: string | undefined) =>
  url === undefined ? [] : [emptyElement('itunes:image', { href: asciiUrl(url) })];

function channelLines(podcast: FeedPodcast, changedAt: Date, generator: string): readonly string[] {
  const description = clipDescription(podcast.description);
  const title = clip(podcast.title);
  const link = asciiUrl(podcast.link);
  return [
    emptyElement('atom:link', { href: asciiUrl(podcast.feedUrl), rel: 'self', type: 'application/rss+xml' }),
    ...textElement('title', title),
    ...textElement('link', link),
    ...textElement('language', podcast.language),
    ...cdataElement('description', description),
    ...textElement('generator', generator),
    ...textElement('lastBuildDate', rfc2822Date(changedAt)),
    ...textElement('copyright', clip(podcast.copyright)),
    ...textElement('itunes:author', clip(podcast.author)),
    ...(podcast.ownerName ? element('itunes:owner', {}, textElement('itunes:name', clip(podcast.ownerName))) : []),
    ...textElement('itunes:type', podcast.type),
    ...textElement('itunes:explicit', String(podcast.explicit)),
    ...imageLines(podcast.artworkUrl),
    ...(podcast.artworkUrl
      ? element('image', {}, [
          ...textElement('url', asciiUrl(podcast.artworkUrl)),
          ...textElement('title', title),
          ...textElement('link', link),
        ])
      : []),
    ...categoryLines(podcast.categories),
    ...textElement('podcast:guid', podcast.guid),
    ...textElement('podcast:locked', podcast.locked ? 'yes' : 'no'),
    ...textElement('podcast:medium', podcast.medium),
  ];
}

function episodeLines(episode: FeedEpisode): readonly string[] {
  const description = episode.description === undefined ? undefined : clipDescription(episode.description);
  const { url, lengthBytes, contentType } = episode.enclosure;
  return element('item', {}, [
    ...textElement('title', clip(episode.title)),
    ...textElement('guid', episode.guid, { isPermaLink: 'false' }),
    ...textElement('pubDate', rfc2822Date(episode.publishedAt)),
    ...textElement('link', episode.link === undefined ? undefined : asciiUrl(episode.link)),
    ...cdataElement('description', description),
    ...cdataElement('content:encoded', description),
    emptyElement('enclosure', { url: asciiUrl(url), length: lengthBytes, type: contentType }),
    ...textElement('itunes:title', clip(episode.title)),
    ...textElement('itunes:duration', Math.round(episode.durationMs / 1000)),
    ...textElement('itunes:explicit', episode.explicit === undefined ? undefined : String(episode.explicit)),
    ...textElement('itunes:episodeType', episode.type),
    ...textElement('itunes:season', episode.season),
    ...textElement('itunes:episode', episode.number),
    ...textElement('podcast:season', episode.season),
    ...textElement('podcast:episode', episode.number),
    ...imageLines(episode.artworkUrl),
  ]);
}

/**
 * RSS 2.0 with the itunes, content, podcast and atom namespaces: everything PSP-1 and Apple require, and of Podcasting 2.0
 * guid, locked, medium, season and episode. Equal inputs give equal text. Throws nothing; what a feed must have
 * is checked when a podcast is published.
 */
export function renderFeed({ podcast, episodes, changedAt, generator }: Feed): string {
  const channel = element('channel', {}, [
    ...channelLines(podcast, changedAt, generator),
    ...episodes.flatMap(episodeLines),
  ]);
  return ['<?xml version="1.0" encoding="UTF-8"?>', ...element('rss', namespaces, channel), ''].join('\n');
}
