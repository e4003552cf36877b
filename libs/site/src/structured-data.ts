import { plainText, webAddressOf } from './notes.ts';
import { picturedOf, previewPicture } from './pictures.ts';
import type { SiteEpisode, SiteShow } from './site.ts';

/** Characters that could end the element around the data, or a line of it (HTML §4.12.1.3, ECMA-262 §12.3), and those that are none. */
const unsafe = /[<>&\u2028\u2029\ufffe\uffff]/g;
const descriptionCharacters = 500;

/** JSON for the inside of a `<script>`: nothing in it ends the element or begins a comment. */
const safeJson = (data: unknown): string =>
  JSON.stringify(data).replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** ISO 8601, "PT31M7S". */
export function isoDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `PT${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}${seconds % 60}S`;
}

function seriesOf(show: SiteShow) {
  const { podcast, url } = show;
  return {
    '@type': 'PodcastSeries',
    name: podcast.title,
    url,
    webFeed: podcast.feedUrl,
    inLanguage: podcast.language,
    description: plainText(podcast.description, descriptionCharacters) || undefined,
    image: previewPicture(picturedOf(show)),
    author: podcast.author === undefined ? undefined : { '@type': 'Person', name: podcast.author },
    sameAs: podcast.link === url ? undefined : webAddressOf(podcast.link),
  };
}

function episodeOf(show: SiteShow, episode: SiteEpisode) {
  const { title, url, publishedAt, durationMs, description, season, number, enclosure } = episode;
  const { name, url: seriesUrl, webFeed, '@type': type } = seriesOf(show);
  return {
    '@type': 'PodcastEpisode',
    name: title,
    url,
    datePublished: publishedAt.toISOString(),
    timeRequired: isoDuration(durationMs),
    inLanguage: show.podcast.language,
    description: description === undefined ? undefined : plainText(description, descriptionCharacters) || undefined,
    image: previewPicture(picturedOf(show, episode)),
    episodeNumber: number,
    partOfSeason: season === undefined ? undefined : { '@type': 'PodcastSeason', seasonNumber: season },
    associatedMedia: {
      '@type': 'AudioObject',
      contentUrl: enclosure.url,
      encodingFormat: enclosure.contentType,
      duration: isoDuration(durationMs),
    },
    partOfSeries: { '@type': type, name, url: seriesUrl, webFeed },
  };
}

/** What the page is about, as JSON-LD of schema.org. */
export function structuredData(show: SiteShow, episode?: SiteEpisode): string {
  const about = episode ? episodeOf(show, episode) : seriesOf(show);
  return `<script type="application/ld+json">${safeJson({ '@context': 'https://schema.org', ...about })}</script>`;
}
