import { adTrackSchema } from '@longwave/events';
import { z } from 'zod';

/** The stream format of tracks of HLS with pictures: H.264 in the sizes that every podcast with pictures plays (docs/hls.md). */
export const hlsVideoFormat = 'hls-avc';

const adPictureSchema = z.strictObject({
  ...adTrackSchema.shape,
  width: z.int().min(1),
  height: z.int().min(1),
  frame_rate: z.strictObject({ frames: z.int().min(1), seconds: z.int().min(1) }),
});

/** The tracks of HLS with the pictures of an ad, in all sizes, and those for seeking. Sound is never inside. */
export const adPicturesSchema = z.strictObject({
  v360: adPictureSchema,
  v720: adPictureSchema,
  v1080: adPictureSchema,
  iframe: adPictureSchema,
});
export type AdPictures = z.infer<typeof adPicturesSchema>;
