import type { SiteEpisode, SiteEpisodeDetails, SiteShow } from '@longwave/site';
import type { Transcript } from '@longwave/transcript';
import { sitePath, toFeedEpisode, toFeedPodcast } from '../feeds/to-feed.ts';
import type { PodcastAttributes } from '../projection/projected.ts';
import type { SiteEpisodeRow } from '../projection/site-table.ts';

/** The page of an episode. */
export const siteEpisodePath = (subdomain: string, episodeId: string): string => `${sitePath(subdomain)}/${episodeId}`;

/** The player of an episode for frames of other pages. */
export const embedPath = (subdomain: string, episodeId: string): string =>
  `${siteEpisodePath(subdomain, episodeId)}/embed`;

const oembedUrl = (pageUrl: string, mediaUrl: string) => `${mediaUrl}/oembed?url=${encodeURIComponent(pageUrl)}`;

export const toSiteShow = (podcast: PodcastAttributes, mediaUrl: string): SiteShow => ({
  podcast: toFeedPodcast(podcast, [], { mediaUrl, usesPodping: false, hubUrl: undefined }),
  url: mediaUrl + sitePath(podcast.subdomain),
  mediaUrl: `${mediaUrl}/`,
});

export function toSiteEpisode(row: SiteEpisodeRow, podcast: PodcastAttributes, mediaUrl: string): SiteEpisode {
  const url = mediaUrl + siteEpisodePath(podcast.subdomain, row.id);
  const isHere = row.rendition_bytes !== null;
  return {
    ...toFeedEpisode(row, podcast, mediaUrl),
    ...{ url, isHere },
    oembedUrl: isHere ? oembedUrl(url, mediaUrl) : undefined,
  };
}

/** The transcript in the language of the podcast, else the first one. */
export const chooseTranscript = (
  { attributes: { transcripts = [] } }: SiteEpisodeRow,
  { language }: Pick<PodcastAttributes, 'language'>,
) => {
  const primary = (tag: string) => tag.toLowerCase().split('-')[0];
  return transcripts.find((each) => primary(each.language) === primary(language)) ?? transcripts[0];
};

export const toSiteDetails = (
  { chapters, attributes, rendition_bytes: bytes }: SiteEpisodeRow,
  language: string | undefined,
  transcript: Transcript | undefined,
): SiteEpisodeDetails => ({
  chapters: (chapters ?? [])
    .filter(({ toc }) => toc !== false)
    .map(({ start_ms, title, url }) => ({ startMs: start_ms + (attributes.intro?.duration_ms ?? 0), title, url })),
  mayHaveAds: bytes !== null && attributes.ads !== 'none',
  transcript: language !== undefined && transcript ? { language, cues: transcript.cues } : undefined,
});
