import { episodes, podcasts, productions } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { z } from 'zod';
import type { AnswerShape, Tools } from './route.ts';

const podcast = z.strictObject({
  id: z.string(),
  title: podcasts.attributes.shape.title,
  subdomain: podcasts.attributes.shape.subdomain,
  state: z.enum(podcasts.states),
  feed_url: z.url(),
  ...podcasts.attributes.omit({ title: true, subdomain: true }).shape,
});

const episode = z.strictObject({
  id: z.string(),
  title: episodes.attributes.shape.title,
  podcast_id: z.string(),
  state: z.enum(episodes.states),
  ...episodes.attributes.omit({ title: true, podcast_id: true }).shape,
});

const productionFile = z.strictObject({
  role: z.enum(['source', 'rendition', 'waveform']),
  format: z.string(),
  bitrate: z.int().optional(),
  /** Where the file can be fetched; absent for files that only the service reads. */
  url: z.url().optional(),
  size: z.int(),
  duration_ms: z.int().optional(),
  sha256: z.string(),
});

const production = z.strictObject({
  id: z.string(),
  episode_id: z.string(),
  state: z.enum(productions.states),
  /** 0 to 1; null after a failure. */
  progress: z.number().min(0).max(1).nullable(),
  publication_flag: z.boolean(),
  file_url: z.url(),
  files: z.array(productionFile),
  audio_duration_ms: z.int().nullable(),
  loudness: productions.attributes.shape.loudness,
  problem: productions.attributes.shape.problem,
});

export type ProductionState = (typeof productions.states)[number];

function productionFiles({ id, attributes }: ResourceView, mediaUrl: string): z.output<typeof productionFile>[] {
  const { files, file_url: fileUrl } = productions.attributes
    .pick({ files: true, file_url: true })
    .strip()
    .parse(attributes);
  const urls = {
    source: () => fileUrl,
    rendition: (digest: string) => `${mediaUrl}/delivery/v1/a/${digest}/${id}.mp3`,
    waveform: () => undefined,
  };
  return files.map((file) => {
    const url = urls[file.role](file.sha256);
    return {
      role: file.role,
      format: file.format,
      ...(file.bitrate !== undefined && { bitrate: file.bitrate }),
      ...(url !== undefined && { url }),
      size: file.size_bytes,
      ...(file.duration_ms !== undefined && { duration_ms: file.duration_ms }),
      sha256: file.sha256,
    };
  });
}

async function productionProgress({ id, lifecycle_state: state }: ResourceView, tools: Tools): Promise<number | null> {
  if (state === 'encoded') return 1;
  if (state === 'error') return null;
  return state === 'encoding' ? ((await tools.progress.last(id))?.progress ?? 0) : 0;
}

/** A resource type as REST shows it. */
interface RestView extends AnswerShape {
  readonly render: (resource: ResourceView, tools: Tools) => Promise<Record<string, unknown>>;
}

/** The resources of REST v1 and how each is shown. */
export const views = {
  podcasts: {
    name: 'Podcast',
    schema: podcast,
    render: async ({ id, lifecycle_state: state, attributes }, { mediaUrl }) => {
      const { title, subdomain, ...others } = attributes;
      return { id, title, subdomain, state, feed_url: `${mediaUrl}/feeds/${String(subdomain)}.xml`, ...others };
    },
  },
  episodes: {
    name: 'Episode',
    schema: episode,
    render: async ({ id, lifecycle_state: state, attributes }) => {
      const { title, podcast_id: podcastId, ...others } = attributes;
      return { id, title, podcast_id: podcastId, state, ...others };
    },
  },
  productions: {
    name: 'Production',
    schema: production,
    render: async (resource, tools) => {
      const {
        episode_id,
        publication_flag,
        file_url,
        audio_duration_ms = null,
        loudness,
        problem,
      } = resource.attributes;
      return {
        id: resource.id,
        episode_id,
        state: resource.lifecycle_state,
        progress: await productionProgress(resource, tools),
        publication_flag,
        file_url,
        files: productionFiles(resource, tools.mediaUrl),
        audio_duration_ms,
        ...(loudness !== undefined && { loudness }),
        ...(problem !== undefined && { problem }),
      };
    },
  },
} as const satisfies Record<string, RestView>;

export type ShownType = keyof typeof views;

export const isShown = (type: string): type is ShownType => Object.hasOwn(views, type);

/** An operation, as management records it. */
export const operationShape: AnswerShape = {
  name: 'Operation',
  schema: z.strictObject({
    id: z.string(),
    workspace_id: z.string(),
    command_type: z.string(),
    state: z.enum(['accepted', 'running', 'waiting_review', 'succeeded', 'failed', 'cancelled']),
    subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int() }),
    receipt_id: z.string(),
    problem: z.strictObject({ code: z.string(), detail: z.string() }).optional(),
    next_safe_action: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
};
