import { escapeXml } from '@longwave/xml';
import { renderDocument } from './document.ts';
import { cutText, plainText, renderNotes } from './notes.ts';
import { factsLine, personLines, subscribeLinks } from './page-parts.ts';
import { artworkImage, picturedOf } from './pictures.ts';
import type { SiteEpisode, SiteEpisodeList, SiteShow } from './site.ts';
import { wordsFor, type PageWords } from './words.ts';

const maxDescriptionBytes = 8_000;
const maxTitleCharacters = 120;
const excerptCharacters = 160;

function episodeItem(episode: SiteEpisode, words: PageWords): string {
  const excerpt = plainText(episode.summary ?? episode.description ?? '', excerptCharacters);
  return [
    `<li><h3><a href="${escapeXml(episode.url)}">${cutText(episode.title, maxTitleCharacters)}</a></h3>`,
    factsLine(episode, words),
    ...(excerpt === '' ? [] : [`<p>${escapeXml(excerpt)}</p>`]),
    '</li>',
  ].join('');
}

/** The address of a page of the list. */
const pageUrl = ({ url }: SiteShow, page: number) => (page === 1 ? url : `${url}?page=${page}`);

function pageLinks(show: SiteShow, { page, pages }: SiteEpisodeList, words: PageWords): readonly string[] {
  if (pages <= 1) return [];
  const link = (to: number, rel: string, name: string) =>
    `<a rel="${rel}" href="${escapeXml(pageUrl(show, to))}">${name}</a>`;
  return [
    `<nav class="pages"${words.ours} aria-label="${words.page(page, pages)}">`,
    page > 1 ? link(page - 1, 'prev', words.newer) : '<span></span>',
    `<span>${words.page(page, pages)}</span>`,
    page < pages ? link(page + 1, 'next', words.older) : '<span></span>',
    '</nav>',
  ];
}

/** The page of a podcast: artwork, description, where to follow it, people, and its episodes, newest first. Equal inputs give equal text. */
export function renderShowPage(show: SiteShow, list: SiteEpisodeList): string {
  const { podcast } = show;
  const words = wordsFor(podcast.language);
  const { episodes, page, pages } = list;
  const description = renderNotes(podcast.description, maxDescriptionBytes);
  return renderDocument({
    show,
    url: pageUrl(show, page),
    title: page === 1 ? podcast.title : `${podcast.title} – ${words.page(page, pages)}`,
    body: [
      '<div class="top">',
      ...artworkImage(picturedOf(show), show),
      `<div><h1>${escapeXml(podcast.title)}</h1>`,
      ...(podcast.author === undefined
        ? []
        : [`<p class="facts"${words.ours}>${escapeXml(words.by(podcast.author))}</p>`]),
      ...(description === '' ? [] : [`<div class="notes">${description}</div>`]),
      '</div></div>',
      ...subscribeLinks(podcast, show.url, words),
      `<section aria-labelledby="episodes"><h2 id="episodes"${words.ours}>${words.episodes}</h2>`,
      ...(episodes.length === 0
        ? [`<p class="facts"${words.ours}>${words.noEpisodes}</p>`]
        : ['<ol class="episodes">', ...episodes.map((episode) => episodeItem(episode, words)), '</ol>']),
      ...pageLinks(show, list, words),
      '</section>',
      ...personLines(podcast.persons, words),
    ],
  });
}
