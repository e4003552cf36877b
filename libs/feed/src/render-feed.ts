import { cdataElement, element, emptyElement, legalText, openElement, textElement } from '@longwave/xml';
import type { FeedEpisode, FeedHead, FeedPaging, FeedPodcast } from './feed.ts';
import { asciiUrl, clip, clipDescription, rfc2822Date } from './feed-text.ts';
import { channelTagLines, itemTagLines } from './podcasting-lines.ts';

const namespaces = {
  version: '2.0',
  'xmlns:atom': 'http://www.w3.org/2005/Atom',
  'xmlns:content': 'http://purl.org/rss/1.0/modules/content/',
  'xmlns:itunes': 'http://www.itunes.com/dtds/podcast-1.0.dtd',
  'xmlns:podcast': 'https://podcastindex.org/namespace/1.0',
};
const feedType = 'application/rss+xml';

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

/** Links to the pages of the feed and to its hub. */
function linkLines({ feedUrl, hubUrl }: FeedPodcast, paging: FeedPaging | undefined): readonly string[] {
  const { first, previous, next, last } = paging ?? {};
  const pages = Object.entries({ self: paging?.self ?? feedUrl, first, previous, next, last });
  return [
    ...pages.flatMap(([rel, url]) =>
      url === undefined ? [] : [emptyElement('atom:link', { href: asciiUrl(url), rel, type: feedType })],
    ),
    ...(hubUrl === undefined ? [] : [emptyElement('atom:link', { href: asciiUrl(hubUrl), rel: 'hub' })]),
  ];
}

const artworkLines = (url: string | undefined) =>
  url === undefined ? [] : [emptyElement('itunes:image', { href: asciiUrl(url) })];

/** Elements of the itunes namespace about a channel or an item that apps show beside the description. */
const aboutLines = ({ summary, subtitle, keywords = [] }: Pick<FeedPodcast, 'summary' | 'subtitle' | 'keywords'>) => [
  ...textElement('itunes:subtitle', clip(subtitle)),
  ...cdataElement('itunes:summary', summary === undefined ? undefined : clipDescription(summary)),
  ...textElement('itunes:keywords', keywords.join(',')),
];

/** Apple hides a show that blocks it, or everybody. */
const appleSlugs = ['all', 'apple', 'itunes'];

function channelLines({ podcast, changedAt, generator, paging }: FeedHead): readonly string[] {
  const title = clip(podcast.title);
  const link = asciiUrl(podcast.link);
  const owner = [
    ...textElement('itunes:name', clip(podcast.ownerName)),
    ...textElement('itunes:email', clip(podcast.ownerEmail)),
  ];
  return [
    ...linkLines(podcast, paging),
    ...textElement('title', title),
    ...textElement('link', link),
    ...textElement('language', podcast.language),
    ...cdataElement('description', clipDescription(podcast.description)),
    ...textElement('generator', generator),
    ...textElement('lastBuildDate', rfc2822Date(changedAt)),
    ...textElement('copyright', clip(podcast.copyright)),
    ...textElement('managingEditor', clip(podcast.managingEditor)),
    ...aboutLines(podcast),
    ...textElement('itunes:author', clip(podcast.author)),
    ...(owner.length === 0 ? [] : element('itunes:owner', {}, owner)),
    ...textElement('itunes:type', podcast.type),
    ...textElement('itunes:explicit', String(podcast.explicit)),
    ...textElement('itunes:new-feed-url', podcast.newFeedUrl && asciiUrl(podcast.newFeedUrl)),
    ...textElement('itunes:block', podcast.blockedPlatforms?.some((id) => appleSlugs.includes(id)) ? 'Yes' : ''),
    ...textElement('itunes:complete', podcast.updateFrequency?.complete ? 'Yes' : ''),
    ...artworkLines(podcast.artworkUrl),
    ...(podcast.artworkUrl
      ? element('image', {}, [
          ...textElement('url', asciiUrl(podcast.artworkUrl)),
          ...textElement('title', title),
          ...textElement('link', link),
        ])
      : []),
    ...categoryLines(podcast.categories),
    ...channelTagLines(podcast),
  ];
}

function episodeLines(episode: FeedEpisode): readonly string[] {
  const { description, summary = description } = episode;
  const { url, lengthBytes, contentType } = episode.enclosure;
  return element('item', {}, [
    ...textElement('title', clip(episode.title)),
    ...textElement('guid', episode.guid, { isPermaLink: 'false' }),
    ...textElement('pubDate', rfc2822Date(episode.publishedAt)),
    ...textElement('link', episode.link === undefined ? undefined : asciiUrl(episode.link)),
    ...cdataElement('description', summary === undefined ? undefined : clipDescription(summary)),
    // PSP-1 bounds the description alone; this is the whole text.
    ...cdataElement('content:encoded', description === undefined ? undefined : legalText(description)),
    emptyElement('enclosure', { url: asciiUrl(url), length: lengthBytes, type: contentType }),
    ...textElement('itunes:title', clip(episode.title)),
    ...textElement('itunes:author', clip(episode.author)),
    ...aboutLines(episode),
    ...textElement('itunes:duration', Math.round(episode.durationMs / 1000)),
    ...textElement('itunes:explicit', episode.explicit === undefined ? undefined : String(episode.explicit)),
    ...textElement('itunes:episodeType', episode.type),
    ...textElement('itunes:season', episode.season),
    ...textElement('itunes:episode', episode.number),
    ...textElement('itunes:block', episode.blocked ? 'Yes' : ''),
    ...artworkLines(episode.artworkUrl),
    ...itemTagLines(episode),
  ]);
}

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

/**
 * RSS 2.0 with the itunes, content, podcast and atom namespaces: everything PSP-1 and Apple require, the Podcasting 2.0 tags of
 * what is hosted here, and RFC 5005 links. Yields the document in pieces, one for each batch of episodes, so that a feed of any
 * length takes the memory of one batch. Equal inputs give equal text. Rejects only with the error of `batches`; required fields are
 * checked when a podcast is published.
 * @param batches rendered in this order; newest first is usual
 */
export async function* renderFeed(
  head: FeedHead,
  batches: AsyncIterable<readonly FeedEpisode[]> | Iterable<readonly FeedEpisode[]>,
): AsyncGenerator<string, void, undefined> {
  yield text([
    '<?xml version="1.0" encoding="UTF-8"?>',
    openElement('rss', namespaces),
    openElement('channel', {}),
    ...channelLines(head),
  ]);
  for await (const episodes of batches) yield text(episodes.flatMap(episodeLines));
  yield text(['</channel>', '</rss>']);
}
