import { mediaClips } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { z } from 'zod';
import type { RestView } from './rest-view.ts';

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

function render({ id, attributes: stored }: ResourceView) {
  const { episode_id, file_format, url, size, duration_ms, hosted } = stored as z.output<typeof mediaClips.attributes>;
  return { id, episode_id, file_format, url, size, duration: duration_ms / 1000, hosted };
}

export const mediaClipView = { name: 'MediaClip', schema, versioned: true, render } satisfies RestView;
