import type {
  FeedAlternateEnclosure,
  FeedEnclosure,
  FeedEpisode,
  FeedImage,
  FeedPodcast,
  FeedTrailer,
  FeedValue,
} from '@longwave/feed';
import { canonicalFormat } from '@longwave/audio';
import { aacTrack } from '@longwave/hls-media';
import { transcriptContentTypes, transcriptFormats } from '@longwave/transcript';
import { headerSizeBytes, pictureOf } from '../progressive/render-header.ts';
import type { EnclosureRow, FeedEpisodeRow } from '../projection/feed-table.ts';
import type { Artwork, PodcastAttributes } from '../projection/projected.ts';
import { artworkPath } from '../companions/shown-file-table.ts';
import { camelCased } from './camel-cased.ts';

/** Settings of the operator that feeds show. */
export interface FeedSettings {
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  readonly usesPodping: boolean;
  readonly hubUrl: string | undefined;
}

export const feedPath = (subdomain: string): string => `/feeds/${subdomain}.xml`;

/** The page of a podcast that names none of its own. */
export const sitePath = (subdomain: string): string => `/site/${subdomain}`;

/** The address at which listeners get the audio of an episode: our file, or the clip that stands in. */
export function enclosurePath({ alias, file_name, rendition_bytes, clip_format }: EnclosureRow): string {
  return `/delivery/v1/e/${alias}/${file_name}.${rendition_bytes === null ? clip_format : 'mp3'}`;
}

/** The address of an episode by HLS: lasting, as the enclosure's. */
export const playlistPath = ({ alias, file_name }: EnclosureRow): string => `/delivery/v1/e/${alias}/${file_name}.m3u8`;

/** Enough of a digest to tell two versions of a document apart. */
const versionCharacters = 12;

/** Answered at the times of the asking listener's play; another address once the chapters changed, so that apps ask again. */
const chaptersPath = (alias: string, digest: string): string =>
  `/delivery/v1/e/${alias}/chapters.json?v=${digest.slice(0, versionCharacters)}`;

const transcriptPath = (alias: string, language: string, digest: string, format: string): string =>
  `/delivery/v1/e/${alias}/transcript.${format}?lang=${encodeURIComponent(language)}&v=${digest.slice(0, versionCharacters)}`;

/** Content types of clips as podcast apps know them. */
const clipTypes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  m4a: 'audio/x-m4a',
  aac: 'audio/aac',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  wav: 'audio/wav',
};

const imagesOf = (artwork: Artwork | undefined, mediaUrl: string): FeedImage[] =>
  (artwork?.renditions ?? []).map((rendition) => ({
    url: mediaUrl + artworkPath(rendition),
    size: rendition.size,
    contentType: rendition.content_type,
  }));

/** The largest one that Apple takes, else the address that was given. */
function artworkUrlOf(images: readonly FeedImage[], given: string | undefined, pixels = Infinity): string | undefined {
  const taken = images.filter(({ contentType }) => contentType !== 'image/webp').toSorted((a, b) => b.size - a.size);
  return (taken.findLast(({ size }) => size >= pixels) ?? taken[0])?.url ?? given;
}

/** The address of a podcast's artwork as its feed names it. @param pixels that a side needs at least, where a smaller picture does */
export const shownArtworkUrl = (
  { artwork, artwork_url: given }: Pick<PodcastAttributes, 'artwork' | 'artwork_url'>,
  mediaUrl: string,
  pixels?: number,
): string | undefined => artworkUrlOf(imagesOf(artwork, mediaUrl), given, pixels);

/** A trailer that is hosted outside. */
const outsideTrailer = (trailer: NonNullable<PodcastAttributes['trailers']>[number]): FeedTrailer => ({
  title: trailer.title,
  publishedAt: new Date(trailer.published_at),
  enclosure: { url: trailer.url, lengthBytes: trailer.size_bytes, contentType: trailer.content_type },
  season: trailer.season,
});

export function toFeedPodcast(
  attributes: PodcastAttributes,
  trailers: readonly FeedTrailer[],
  { mediaUrl, usesPodping, hubUrl }: FeedSettings,
): FeedPodcast {
  const {
    artwork,
    artwork_url: given,
    import: movedIn,
    podcast_guid: guid,
    trailers: outside = [],
    ...shown
  } = attributes;
  const feedUrl = mediaUrl + feedPath(attributes.subdomain);
  const images = imagesOf(artwork, mediaUrl);
  return {
    ...camelCased(shown),
    guid,
    feedUrl,
    link: shown.link ?? mediaUrl + sitePath(attributes.subdomain),
    medium: shown.medium ?? 'podcast',
    artworkUrl: artworkUrlOf(images, given),
    images,
    trailers: [...trailers, ...outside.map(outsideTrailer)],
    usesPodping,
    hubUrl,
    // Apple wants the tag in the feed at its new address.
    newFeedUrl: movedIn ? feedUrl : undefined,
  };
}

/** The file that is served without ads: header, intro, content, outro; or the clip that stands in. */
function audioOf(
  row: FeedEpisodeRow,
  podcast: PodcastAttributes,
  mediaUrl: string,
): { enclosure: FeedEnclosure; durationMs: number } {
  const { title, intro, outro, artwork, number: track, link } = row.attributes;
  const url = mediaUrl + enclosurePath(row);
  if (row.rendition_bytes === null)
    return {
      enclosure: { url, lengthBytes: Number(row.clip_bytes), contentType: clipTypes[row.clip_format!]! },
      durationMs: Number(row.clip_ms),
    };
  const names = {
    ...{ title, album: podcast.title, artist: podcast.author ?? '' },
    ...{ track, publishedAt: row.published_at, page: link ?? podcast.link },
  };
  const header = headerSizeBytes(names, row.chapters_tag_bytes, pictureOf(artwork ?? podcast.artwork));
  const around = (part: 'size_bytes' | 'duration_ms') => (intro?.[part] ?? 0) + (outro?.[part] ?? 0);
  return {
    enclosure: {
      url,
      lengthBytes: header + around('size_bytes') + Number(row.rendition_bytes),
      contentType: canonicalFormat.contentType,
    },
    durationMs: around('duration_ms') + Number(row.duration_ms),
  };
}

/** The presentation of an episode, where its podcast wants it in the feed: one tag for everything that players choose by its playlist. */
function presentationsOf(
  row: FeedEpisodeRow,
  { hls_audio: hasSound, hls_video: hasVideo, hls_in_feed: inFeed, language }: PodcastAttributes,
  mediaUrl: string,
): readonly FeedAlternateEnclosure[] {
  const { hls_video_codec: videoCodec, hls_video_height: height } = row;
  const isOn = videoCodec === null ? hasSound : hasVideo;
  if (!isOn || !inFeed || row.hls_bit_rate === null || row.rendition_bytes === null) return [];
  return [
    {
      // The type of the namespace's example, for which older apps look.
      contentType: 'application/x-mpegURL',
      // Unknown: it is a playlist.
      sizeBytes: 0,
      bitrate: row.hls_bit_rate,
      language,
      ...(videoCodec === null
        ? { title: 'Audio (HLS)', codecs: aacTrack.codec }
        : { title: 'Video', height: height ?? undefined, codecs: `${videoCodec},${aacTrack.codec}` }),
      default: false,
      sources: [{ uri: mediaUrl + playlistPath(row) }],
    },
  ];
}

/** Time splits begin later by the intro. */
const shiftedValue = (value: FeedValue, shiftMs: number): FeedValue => ({
  ...value,
  timeSplits: value.timeSplits?.map((split) => ({ ...split, startMs: split.startMs + shiftMs })),
});

export function toFeedEpisode(row: FeedEpisodeRow, podcast: PodcastAttributes, mediaUrl: string): FeedEpisode {
  const {
    artwork,
    artwork_url: given,
    intro,
    outro: _,
    transcripts = [],
    soundbites,
    value,
    alternate_enclosures: elsewhere = [],
    ...shown
  } = row.attributes;
  const images = imagesOf(artwork, mediaUrl);
  const shiftMs = intro?.duration_ms ?? 0;
  return {
    ...camelCased(shown),
    ...audioOf(row, podcast, mediaUrl),
    publishedAt: row.published_at,
    artworkUrl: artworkUrlOf(images, given),
    images,
    chaptersUrl: row.chapters_digest === null ? undefined : mediaUrl + chaptersPath(row.alias, row.chapters_digest),
    transcripts: transcripts.flatMap(({ sha256, language, captions }) =>
      transcriptFormats.map((format) => ({
        url: mediaUrl + transcriptPath(row.alias, language, sha256, format),
        contentType: transcriptContentTypes[format],
        language,
        captions,
      })),
    ),
    alternateEnclosures: [...camelCased(elsewhere), ...presentationsOf(row, podcast, mediaUrl)],
    value: value && shiftedValue(camelCased(value), shiftMs),
    soundbites: soundbites?.map(({ start_ms, duration_ms, title }) => ({
      startMs: start_ms + shiftMs,
      durationMs: duration_ms,
      title,
    })),
  };
}

export function toTrailer(row: FeedEpisodeRow, podcast: PodcastAttributes, mediaUrl: string): FeedTrailer {
  const { title, season } = row.attributes;
  const { enclosure } = audioOf(row, podcast, mediaUrl);
  return { title, season, enclosure, publishedAt: row.published_at };
}
