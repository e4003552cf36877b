import { escapeXml } from '@longwave/xml';
import { plainText } from './notes.ts';
import { picturedOf, previewPicture } from './pictures.ts';
import type { SiteEpisode, SiteShow } from './site.ts';
import { siteStyle } from './site-style.ts';
import { structuredData } from './structured-data.ts';

const summaryCharacters = 200;
/** Slugs whose owners are asked not to list a podcast (Podcasting 2.0, tag block): everybody, or a search engine. */
const searchSlugs = ['all', 'google'];

const meta = (key: 'name' | 'property', name: string, content: string | undefined): readonly string[] =>
  content === undefined || content === '' ? [] : [`<meta ${key}="${name}" content="${escapeXml(content)}">`];

/** A page: what its head says to browsers, search engines and previews, and its body. */
export interface SiteDocument {
  readonly show: SiteShow;
  /** The episode that it is about; else the podcast. */
  readonly episode?: SiteEpisode | undefined;
  /** Its own address. */
  readonly url: string;
  readonly title: string;
  /** Lines inside of `<main>`. */
  readonly body: readonly string[];
}

function headLines({ show, episode, url, title }: SiteDocument): readonly string[] {
  const { podcast } = show;
  const about = episode ?? podcast;
  const summary = plainText(about.description ?? podcast.description, summaryCharacters);
  const picture = previewPicture(picturedOf(show, episode));
  const isHidden = episode?.blocked || podcast.blockedPlatforms?.some((slug) => searchSlugs.includes(slug));
  return [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeXml(title)}</title>`,
    ...meta('name', 'description', summary),
    ...meta('name', 'robots', isHidden ? 'noindex' : undefined),
    `<link rel="canonical" href="${escapeXml(url)}">`,
    `<link rel="alternate" type="application/rss+xml" title="${escapeXml(podcast.title)}" href="${escapeXml(podcast.feedUrl)}">`,
    ...(episode?.oembedUrl === undefined
      ? []
      : [
          `<link rel="alternate" type="application/json+oembed" title="${escapeXml(episode.title)}" href="${escapeXml(episode.oembedUrl)}">`,
        ]),
    '<link rel="icon" href="data:,">',
    ...meta('property', 'og:type', episode ? 'article' : 'website'),
    ...meta('property', 'og:site_name', podcast.title),
    ...meta('property', 'og:title', about.title),
    ...meta('property', 'og:description', summary),
    ...meta('property', 'og:url', url),
    ...meta('property', 'og:locale', podcast.language.replace('-', '_')),
    ...meta('property', 'og:image', picture),
    ...meta('property', 'article:published_time', episode?.publishedAt.toISOString()),
    ...meta('name', 'twitter:card', 'summary'),
    ...meta('name', 'twitter:title', about.title),
    ...meta('name', 'twitter:description', summary),
    ...meta('name', 'twitter:image', picture),
    structuredData(show, episode),
    `<style>${siteStyle}</style>`,
  ];
}

/** The whole page. Equal inputs give equal text. */
export function renderDocument(page: SiteDocument): string {
  const { podcast } = page.show;
  return [
    '<!doctype html>',
    `<html lang="${escapeXml(podcast.language)}">`,
    '<head>',
    ...headLines(page),
    '</head>',
    '<body>',
    '<main>',
    ...page.body,
    '</main>',
    ...(podcast.copyright === undefined ? [] : [`<footer><p>${escapeXml(podcast.copyright)}</p></footer>`]),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
