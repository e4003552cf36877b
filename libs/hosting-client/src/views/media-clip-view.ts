import { mediaClips, type Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import type { View } from './view.ts';

const attributes = mediaClips.attributes.shape;

const schema = z.strictObject({
  id: z.string(),
  episode_id: z.string(),
  file_format: attributes.file_format,
  url: z.url(),
  /** Bytes. */
  size: attributes.size,
  /** Seconds. */
  duration: z.number(),
  /** Whether the file lies in this service or outside. */
  hosted: attributes.hosted,
});

function render({ id, attributes: stored }: Resource<'media_clips'>) {
  const { episode_id, file_format, url, size, duration_ms, hosted } = stored;
  return { id, episode_id, file_format, url, size, duration: duration_ms / 1000, hosted };
}

export const mediaClipView = { name: 'MediaClip', schema, render } satisfies View<'media_clips'>;
