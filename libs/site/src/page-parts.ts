import type { FeedPerson, FeedPodcast } from '@longwave/feed';
import { escapeXml } from '@longwave/xml';
import { cutText, webAddressOf } from './notes.ts';
import type { SiteEpisode } from './site.ts';
import { isoDuration } from './structured-data.ts';
import type { PageWords } from './words.ts';

const maxNameCharacters = 128;
const maxPersons = 50;
const maxSupportLinks = 5;

/** The moment as a day in UTC, as people of the language write it. */
const day = (at: Date, { locale }: PageWords) =>
  `<time datetime="${at.toISOString()}">${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(at)}</time>`;

/** Day, place in the show, length and kind of an episode. */
export function factsLine(episode: SiteEpisode, words: PageWords): string {
  const { season, number, durationMs, type, explicit } = episode;
  const place = [
    ...(season === undefined ? [] : [words.season(season)]),
    ...(number === undefined ? [] : [words.episode(number)]),
  ];
  const facts = [
    day(episode.publishedAt, words),
    ...(place.length > 0 ? [place.join(', ')] : []),
    ...(durationMs > 0 ? [`<time datetime="${isoDuration(durationMs)}">${words.duration(durationMs)}</time>`] : []),
    ...(type === 'full' ? [] : [words[type]]),
    ...(explicit ? [words.explicit] : []),
  ];
  return `<p class="facts"${words.ours}>${facts.join(' · ')}</p>`;
}

const item = (href: string, name: string, attributes = '') =>
  `<li${attributes}><a href="${escapeXml(href)}">${escapeXml(name)}</a></li>`;

/** Where the podcast can be followed: addresses that apps open by themselves, and the feed for every other one. */
export function subscribeLinks({ feedUrl, title, link, funding = [] }: FeedPodcast, url: string, words: PageWords) {
  const [feed, bare] = [encodeURIComponent(feedUrl), feedUrl.replace(/^https?:\/\//, '')];
  const website = link === url ? undefined : webAddressOf(link);
  const supports = funding.flatMap((each) => (webAddressOf(each.url) === undefined ? [] : [each]));
  return [
    `<section aria-labelledby="subscribe"><h2 id="subscribe"${words.ours}>${words.subscribe}</h2>`,
    '<ul class="links">',
    item(feedUrl, words.feed, words.ours),
    item(`podcast://${bare}`, 'Apple Podcasts'),
    item(`overcast://x-callback-url/add?url=${feed}`, 'Overcast'),
    item(`pktc://subscribe/${bare}`, 'Pocket Casts'),
    item(
      `https://antennapod.org/deeplink/subscribe?url=${feed}&title=${encodeURIComponent(title.toWellFormed())}`,
      'AntennaPod',
    ),
    ...(website === undefined ? [] : [item(website, words.website, words.ours)]),
    ...supports.slice(0, maxSupportLinks).map((each) => item(each.url, each.text || words.support)),
    '</ul></section>',
  ];
}

const personItem = ({ name, role, link }: FeedPerson) => {
  const address = webAddressOf(link);
  const shown = cutText(name, maxNameCharacters);
  const named = address === undefined ? shown : `<a href="${escapeXml(address)}" rel="nofollow noopener">${shown}</a>`;
  return `<li>${named}${role === undefined ? '' : ` <span>${escapeXml(role)}</span>`}</li>`;
};

/** The people of an episode or a podcast; nothing where none are named. Their pictures are of other hosts, so none is loaded. */
export const personLines = (persons: readonly FeedPerson[] | undefined, words: PageWords): readonly string[] =>
  persons === undefined || persons.length === 0
    ? []
    : [
        `<section aria-labelledby="people"><h2 id="people"${words.ours}>${words.people}</h2>`,
        `<ul class="people">${persons.slice(0, maxPersons).map(personItem).join('\n')}</ul></section>`,
      ];
