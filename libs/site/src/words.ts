const minuteMs = 60_000;

const inHours = (ms: number, hour: string, minute: string): string => {
  const minutes = Math.max(1, Math.round(ms / minuteMs));
  const hours = Math.floor(minutes / 60);
  // Numbers stay with their units.
  const both = (number: number, unit: string) => `${number}\u00a0${unit}`;
  return hours === 0 ? both(minutes, minute) : `${both(hours, hour)} ${both(minutes % 60, minute)}`;
};

const english = {
  locale: 'en-GB',
  by: (author: string) => `By ${author}`,
  episodes: 'Episodes',
  subscribe: 'Subscribe',
  feed: 'RSS feed',
  website: 'Website',
  support: 'Support',
  people: 'People',
  chapters: 'Chapters',
  timesWithoutAds: 'Times leave out advertisements.',
  transcript: 'Transcript',
  wholeTranscript: 'The whole transcript as a file',
  explicit: 'Explicit',
  trailer: 'Trailer',
  bonus: 'Bonus',
  season: (number: number) => `Season ${number}`,
  episode: (number: number) => `Episode ${number}`,
  page: (number: number, pages: number) => `Page ${number} of ${pages}`,
  newer: 'Newer episodes',
  older: 'Older episodes',
  noEpisodes: 'No episodes yet.',
  listenElsewhere: 'Listen to this episode',
  player: (title: string) => `Player: ${title}`,
  duration: (ms: number) => inHours(ms, 'h', 'min'),
};

type Words = typeof english;

const german: Words = {
  locale: 'de-DE',
  by: (author) => `Von ${author}`,
  episodes: 'Folgen',
  subscribe: 'Abonnieren',
  feed: 'RSS-Feed',
  website: 'Website',
  support: 'Unterstützen',
  people: 'Mitwirkende',
  chapters: 'Kapitel',
  timesWithoutAds: 'Zeiten ohne Werbung.',
  transcript: 'Transkript',
  wholeTranscript: 'Das ganze Transkript als Datei',
  explicit: 'Explizit',
  trailer: 'Trailer',
  bonus: 'Bonus',
  season: (number) => `Staffel ${number}`,
  episode: (number) => `Folge ${number}`,
  page: (number, pages) => `Seite ${number} von ${pages}`,
  newer: 'Neuere Folgen',
  older: 'Ältere Folgen',
  noEpisodes: 'Noch keine Folgen.',
  listenElsewhere: 'Diese Folge anhören',
  player: (title) => `Player: ${title}`,
  duration: (ms) => inHours(ms, 'Std.', 'Min.'),
};

/** Our words on a page. */
export interface PageWords extends Words {
  /** The attribute of elements with our words, where the page's language is another: `""` or `" lang=\"en\""`. */
  readonly ours: string;
}

/** Our words for a podcast: German where it speaks German, else English. @param language BCP 47 */
export function wordsFor(language: string): PageWords {
  const [primary] = language.toLowerCase().split('-');
  if (primary === 'de') return { ...german, ours: '' };
  return { ...english, ours: primary === 'en' ? '' : ' lang="en"' };
}
