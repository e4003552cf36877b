import { canonicalFormat } from '@longwave/audio';
import { episodes, mediaClips, podcasts, productions } from '@longwave/command-catalog/delivered';
import { z } from 'zod';

const show = podcasts.attributes.shape;
const one = episodes.attributes.shape;

/** The public attributes of a podcast; others of an event are dropped. */
export const podcastAttributesSchema = z.object({
  title: show.title,
  subdomain: show.subdomain,
  podcast_guid: show.podcast_guid,
  description: show.description.default(''),
  language: show.language,
  categories: z.array(z.string()).default([]),
  explicit: show.explicit.default(false),
  type: show.type.default('episodic'),
  locked: show.locked.default(false),
  medium: show.medium,
  summary: show.summary,
  subtitle: show.subtitle,
  keywords: show.keywords,
  managing_editor: show.managing_editor,
  trailers: show.trailers,
  author: show.author,
  owner_name: show.owner_name,
  owner_email: show.owner_email,
  artwork_url: show.artwork_url,
  artwork: show.artwork,
  link: show.link,
  copyright: show.copyright,
  funding: show.funding,
  persons: show.persons,
  location: show.location,
  license: show.license,
  texts: show.texts,
  update_frequency: show.update_frequency,
  blocked_platforms: show.blocked_platforms,
  podroll: show.podroll,
  publisher: show.publisher,
  value: show.value,
  chat: show.chat,
  new_feed_url: show.new_feed_url,
  break_fade_ms: show.break_fade_ms,
  /** Episodes are also delivered by HLS. */
  hls_audio: show.hls_audio,
  /** Episodes with a picture are delivered by HLS with it. */
  hls_video: show.hls_video,
  /** The feed names them. */
  hls_in_feed: show.hls_in_feed,
  /** Present when the podcast was imported; the progress of the import is not public. */
  import: z.object({}).optional(),
  /** Present when another platform hosts the podcast, whose feed is there. */
  hosted_by: show.hosted_by,
});

const prepared = z.object({ segment: one.intro }).optional();
/** The intro and outro of a podcast, of which delivery needs the tracks of HLS. */
export const podcastPartsSchema = z.object({ intro: prepared, outro: prepared });

/** A template part that cannot be joined to our audio is left out. */
const joinable = one.intro.transform((part) => (part?.stream_format === canonicalFormat.name ? part : undefined));

/** The attributes of an episode that delivery reads. */
export const episodeAttributesSchema = z.object({
  podcast_id: one.podcast_id,
  guid: one.guid,
  title: one.title,
  description: one.description,
  summary: one.summary,
  subtitle: one.subtitle,
  author: one.author,
  keywords: one.keywords,
  season: one.season,
  number: one.number,
  type: one.type.default('full'),
  explicit: one.explicit,
  artwork_url: one.artwork_url,
  artwork: one.artwork,
  link: one.link,
  persons: one.persons,
  location: one.location,
  license: one.license,
  soundbites: one.soundbites,
  social_interact: one.social_interact,
  value: one.value,
  alternate_enclosures: one.alternate_enclosures,
  blocked: one.blocked,
  transcripts: one.transcripts,
  published_at: one.published_at,
  intro: joinable,
  outro: joinable,
  current_production_id: one.current_production_id,
  plays_end_before: one.plays_end_before,
  chapters: one.chapters,
  markers: one.markers,
  ads: one.ads,
  snapshot_id: one.snapshot_id,
});

const productionAttributesSchema = z.object({
  episode_id: z.string(),
  files: z
    .array(
      z.object({
        role: z.string(),
        stream_format: z.string().optional(),
        size_bytes: z.int().min(0),
        sha256: z.string(),
        duration_ms: z.int().min(0).optional(),
      }),
    )
    .default([]),
  audio_duration_ms: z.int().min(0).optional(),
  loudness: z.object({ output_lufs: z.number().nullish() }).optional(),
  silences: z.array(z.tuple([z.int().min(0), z.int().min(0)])).default([]),
  tracks: productions.attributes.shape.tracks,
});

export const mediaClipAttributesSchema = z.object(mediaClips.attributes.shape);

export const uploadAttributesSchema = z.object({
  content_type: z.string(),
  upload_type: z.string(),
  storage_key: z.string(),
});

export type PodcastAttributes = z.infer<typeof podcastAttributesSchema>;
export type EpisodeAttributes = z.infer<typeof episodeAttributesSchema>;
/** The attributes in the row of an episode. */
export type ShownEpisode = Omit<
  EpisodeAttributes,
  'current_production_id' | 'plays_end_before' | 'chapters' | 'markers'
>;
export type Chapters = NonNullable<EpisodeAttributes['chapters']>;
export type Markers = NonNullable<EpisodeAttributes['markers']>;
export type Artwork = NonNullable<PodcastAttributes['artwork']>;
export type JoinedPart = NonNullable<EpisodeAttributes['intro']>;
export type HlsTrack = NonNullable<JoinedPart['hls']>;

const tracks = productions.attributes.shape.tracks.unwrap().shape;
const picture = tracks.v360.unwrap().shape.file.unwrap();
/** The pictures of a production: all sizes, and those for seeking. */
export const pictureTracksSchema = z.strictObject({
  v360: picture,
  v480: picture.optional(),
  v720: picture,
  v1080: picture,
  iframe: picture,
});
export type PictureTracks = z.infer<typeof pictureTracksSchema>;

export const hlsTrackSchema = one.intro.unwrap().shape.hls.unwrap();
export const chaptersSchema = one.chapters.unwrap();
export const transcriptsSchema = one.transcripts.unwrap();

/** The canonical rendition of a production: the audio that is served. */
export interface Rendition {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly durationMs: number;
}

/** A production as delivery knows it. */
export interface KnownProduction {
  readonly episodeId: string;
  /** Once encoded. */
  readonly rendition: Rendition | undefined;
  /** LUFS. */
  readonly loudness: number | undefined;
  /** [start, end) in milliseconds. */
  readonly silences: readonly (readonly [number, number])[];
  /** The same sound for HLS, once it is encoded. */
  readonly track: HlsTrack | undefined;
  /** Once all of them are made. */
  readonly pictures: PictureTracks | undefined;
}

/** A size that is still being made keeps all from being shown, so that a presentation does not change while it is listened to. */
function readPictures({
  a192: _,
  ...pictures
}: NonNullable<z.infer<typeof productionAttributesSchema>['tracks']> = {}): PictureTracks | undefined {
  const files = Object.entries(pictures).map(([name, track]) => [name, track?.file] as const);
  const { success, data } = pictureTracksSchema.safeParse(Object.fromEntries(files));
  return success && files.every(([, file]) => file) ? data : undefined;
}

/** Throws `ZodError` for another shape. */
export function readProduction(attributes: unknown): KnownProduction {
  const parsed = productionAttributesSchema.parse(attributes);
  const { episode_id: episodeId, files, audio_duration_ms: durationMs, loudness, silences, tracks } = parsed;
  const file = files.find((each) => each.role === 'rendition' && each.stream_format === canonicalFormat.name);
  return {
    episodeId,
    loudness: loudness?.output_lufs ?? undefined,
    silences,
    track: tracks?.a192?.file,
    pictures: readPictures(tracks),
    rendition: file && {
      digest: file.sha256,
      sizeBytes: file.size_bytes,
      durationMs: file.duration_ms ?? durationMs ?? 0,
    },
  };
}

/** The name a listener's file gets: ASCII letters and digits of the title, at most 60 characters. */
export function enclosureFileName(title: string): string {
  const ascii = title
    .normalize('NFKD')
    .replace(/[^\u0020-\u007e]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  return ascii === '' ? 'episode' : ascii;
}
