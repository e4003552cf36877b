import type { artwork } from '@longwave/command-catalog';
import { z } from 'zod';

const contentTypes = ['image/jpeg', 'image/png', 'image/webp'] as const;
const extensions = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/webp': 'webp' } as const;

/** Square images at addresses that never change their bytes. */
export const artworkSchema = z.array(
  z.strictObject({
    /** Pixels of a side. */
    size: z.int(),
    url: z.url(),
    content_type: z.enum(contentTypes),
  }),
);

export const renderArtwork = (
  { renditions }: z.output<typeof artwork>,
  mediaUrl: string,
): z.output<typeof artworkSchema> =>
  renditions.map(({ size, content_type, sha256 }) => ({
    size,
    url: `${mediaUrl}/delivery/v1/i/${sha256}/${size}.${extensions[content_type]}`,
    content_type,
  }));
