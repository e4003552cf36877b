import { escapeXml } from '@longwave/xml';
import { renderDocument } from './document.ts';
import { renderNotes, webAddressOf } from './notes.ts';
import { factsLine, personLines, subscribeLinks } from './page-parts.ts';
import { artworkImage, picturedOf } from './pictures.ts';
import type { SiteChapter, SiteEpisode, SiteEpisodeDetails, SiteShow } from './site.ts';
import { isoDuration } from './structured-data.ts';
import { transcriptLines } from './transcript-lines.ts';
import { wordsFor, type PageWords } from './words.ts';

/** Notes, chapters and transcript have these bytes between them, so that a page of prose has at most 30 kB as gzip. */
const maxWordsBytes = 64_000;
const maxNotesBytes = 20_000;
const maxChaptersBytes = 16_000;

/** "1:02:03", "2:03" */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

function chapterItem({ startMs, title, url }: SiteChapter): string {
  const address = webAddressOf(url);
  const name = escapeXml(title);
  const named = address === undefined ? name : `<a href="${escapeXml(address)}" rel="nofollow noopener">${name}</a>`;
  return `<li><time datetime="${isoDuration(startMs)}">${clock(startMs)}</time> <span>${named}</span></li>`;
}

function chapterLines({ chapters, mayHaveAds }: SiteEpisodeDetails, words: PageWords): readonly string[] {
  const items: string[] = [];
  let left = maxChaptersBytes;
  for (const item of chapters.map(chapterItem)) {
    left -= Buffer.byteLength(item);
    if (left < 0) break;
    items.push(item);
  }
  if (items.length === 0) return [];
  return [
    `<section aria-labelledby="chapters"><h2 id="chapters"${words.ours}>${words.chapters}</h2>`,
    '<ol class="chapters">',
    ...items,
    '</ol>',
    ...(mayHaveAds ? [`<p class="facts"${words.ours}>${words.timesWithoutAds}</p>`] : []),
    '</section>',
  ];
}

/** The file of a transcript that a browser shows as text. */
const transcriptFile = ({ transcripts = [] }: SiteEpisode, language: string | undefined) =>
  transcripts.find((each) => each.contentType === 'text/vtt' && (language === undefined || each.language === language));

function transcriptSection(
  episode: SiteEpisode,
  { transcript }: SiteEpisodeDetails,
  maxBytes: number,
  words: PageWords,
): readonly string[] {
  const file = transcriptFile(episode, transcript?.language);
  const { lines, isWhole } = transcript ? transcriptLines(transcript.cues, maxBytes) : { lines: [], isWhole: false };
  if (!file && lines.length === 0) return [];
  const language = transcript === undefined ? '' : ` lang="${escapeXml(transcript.language)}"`;
  return [
    `<details><summary><h2${words.ours}>${words.transcript}</h2></summary>`,
    ...(lines.length === 0 ? [] : [`<div class="transcript"${language}>`, ...lines, '</div>']),
    ...(isWhole || !file
      ? []
      : [`<p class="facts"${words.ours}><a href="${escapeXml(file.url)}">${words.wholeTranscript}</a></p>`]),
    '</details>',
  ];
}

/** The browser's own player at the enclosure's address, so that a play there counts like any other; nothing is loaded before it is asked to play. */
function playerLine({ enclosure, isHere, title }: SiteEpisode, words: PageWords): string {
  const source = escapeXml(enclosure.url);
  return isHere
    ? `<audio controls preload="none" aria-label="${escapeXml(words.player(title))}" src="${source}"></audio>`
    : `<p class="facts"${words.ours}><a href="${source}">${words.listenElsewhere}</a></p>`;
}

/** The page of an episode: player, notes, chapters, people, transcript, and where to follow the podcast. Equal inputs give equal text. */
export function renderEpisodePage(show: SiteShow, episode: SiteEpisode, details: SiteEpisodeDetails): string {
  const { podcast } = show;
  const words = wordsFor(podcast.language);
  const notes = renderNotes(episode.description ?? '', maxNotesBytes);
  const chapters = chapterLines(details, words);
  const left = maxWordsBytes - Buffer.byteLength(notes) - Buffer.byteLength(chapters.join('\n'));
  return renderDocument({
    show,
    episode,
    url: episode.url,
    title: `${episode.title} – ${podcast.title}`,
    body: [
      `<p class="back"><a href="${escapeXml(show.url)}">${escapeXml(podcast.title)}</a></p>`,
      '<article>',
      '<div class="top">',
      ...artworkImage(picturedOf(show, episode), show),
      `<div>${factsLine(episode, words)}`,
      `<h1>${escapeXml(episode.title)}</h1>`,
      playerLine(episode, words),
      '</div></div>',
      ...(notes === '' ? [] : [`<section class="notes">${notes}</section>`]),
      ...chapters,
      ...personLines(episode.persons ?? podcast.persons, words),
      ...transcriptSection(episode, details, left, words),
      '</article>',
      ...subscribeLinks(podcast, show.url, words),
    ],
  });
}
