import { productions } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { z } from 'zod';
import type { RestView, ViewContext } from './rest-view.ts';

const attributes = productions.attributes.shape;

const file = z.strictObject({
  role: z.enum(['source', 'rendition', 'waveform']),
  format: z.string(),
  bitrate: z.int().optional(),
  /** Where the file can be fetched; absent for files that only the service reads. */
  url: z.url().optional(),
  size: z.int(),
  duration_ms: z.int().optional(),
  sha256: z.string(),
});

const schema = z.strictObject({
  id: z.string(),
  episode_id: z.string(),
  state: z.enum(productions.states),
  /** 0 to 1; null after a failure. */
  progress: z.number().min(0).max(1).nullable(),
  publication_flag: z.boolean(),
  file_url: z.url(),
  files: z.array(file),
  audio_duration_ms: z.int().nullable(),
  loudness: attributes.loudness,
  problem: attributes.problem,
});

type Attributes = z.output<typeof productions.attributes>;

function renderFiles(id: string, { files, file_url: fileUrl }: Attributes, mediaUrl: string): z.output<typeof file>[] {
  const urls = {
    source: () => fileUrl,
    rendition: (digest: string) => `${mediaUrl}/delivery/v1/a/${digest}/${id}.mp3`,
    waveform: () => undefined,
  };
  return files.map(({ role, format, bitrate, size_bytes: size, duration_ms, sha256 }) => {
    const url = urls[role](sha256);
    return {
      role,
      format,
      ...(bitrate !== undefined && { bitrate }),
      ...(url !== undefined && { url }),
      size,
      ...(duration_ms !== undefined && { duration_ms }),
      sha256,
    };
  });
}

async function progressOf(
  { id, lifecycle_state: state }: ResourceView,
  { tools }: ViewContext,
): Promise<number | null> {
  if (state === 'encoded') return 1;
  if (state === 'error') return null;
  return state === 'encoding' ? ((await tools.progress.last(id))?.progress ?? 0) : 0;
}

async function render(resource: ResourceView, context: ViewContext) {
  const attributes = resource.attributes as Attributes;
  const { episode_id, publication_flag, file_url, audio_duration_ms = null, loudness, problem } = attributes;
  return {
    id: resource.id,
    episode_id,
    state: resource.lifecycle_state,
    progress: await progressOf(resource, context),
    publication_flag,
    file_url,
    files: renderFiles(resource.id, attributes, context.tools.mediaUrl),
    audio_duration_ms,
    ...(loudness && { loudness }),
    ...(problem && { problem }),
  };
}

export const productionView = { name: 'Production', schema, versioned: true, render } satisfies RestView;
