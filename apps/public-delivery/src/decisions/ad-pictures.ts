import { adPictureSchema } from '@longwave/events';
import { z } from 'zod';

const picture = adPictureSchema.omit({ name: true });

/** The tracks of HLS with the pictures of an ad by their names: in all sizes, and those for seeking. Sound is never inside. */
export const adPicturesSchema = z.strictObject({ v360: picture, v720: picture, v1080: picture, iframe: picture });
export type AdPictures = z.infer<typeof adPicturesSchema>;
