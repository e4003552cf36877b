import { canonicalFormat } from '@longwave/audio';
import { z } from 'zod';

/** What a feed shows of a podcast; anything else an event carries is dropped. */
export const podcastAttributesSchema = z.object({
  title: z.string(),
  subdomain: z.string(),
  podcast_guid: z.string(),
  description: z.string().default(''),
  language: z.string(),
  author: z.string().optional(),
  owner_name: z.string().optional(),
  artwork_url: z.string().optional(),
  categories: z.array(z.string()).default([]),
  explicit: z.boolean().default(false),
  type: z.enum(['episodic', 'serial']).default('episodic'),
  link: z.string().optional(),
  copyright: z.string().optional(),
  locked: z.boolean().default(false),
});

/** What a feed shows of an episode, and where it belongs. */
export const episodeAttributesSchema = z.object({
  podcast_id: z.string(),
  guid: z.string(),
  title: z.string(),
  description: z.string().optional(),
  season: z.int().optional(),
  number: z.int().optional(),
  type: z.enum(['full', 'trailer', 'bonus']).default('full'),
  explicit: z.boolean().optional(),
  artwork_url: z.string().optional(),
  link: z.string().optional(),
  published_at: z.iso.datetime().optional(),
  current_production_id: z.string().optional(),
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
});

export const uploadAttributesSchema = z.object({
  content_type: z.string(),
  upload_type: z.string(),
  storage_key: z.string(),
});

export type PodcastAttributes = z.infer<typeof podcastAttributesSchema>;
export type EpisodeAttributes = z.infer<typeof episodeAttributesSchema>;

/** The canonical rendition of a production: the audio that is served. */
export interface Rendition {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly durationMs: number;
}

/** The episode and, once encoded, the canonical rendition of a production. Throws `ZodError` for another shape. */
export function readProduction(attributes: unknown): {
  readonly episodeId: string;
  readonly rendition: Rendition | undefined;
} {
  const { episode_id: episodeId, files, audio_duration_ms: durationMs } = productionAttributesSchema.parse(attributes);
  const file = files.find((each) => each.role === 'rendition' && each.stream_format === canonicalFormat.name);
  return {
    episodeId,
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
