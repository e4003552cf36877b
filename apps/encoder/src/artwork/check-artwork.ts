import { MediaFault } from '../media/media-fault.ts';
import type { ImageFile } from './image-file.ts';

/** Pixels of a side that directories demand (Apple Podcasts: artwork requirements). */
export const artworkSide = Object.freeze({ min: 1400, max: 3000 });

const refused = (detail: string) => new MediaFault('artwork_not_acceptable', detail);

/** Refuses an image whose size directories would refuse, before a pixel is decoded. Throws `MediaFault` with the reason. */
export function checkArtworkSize({ width, height }: Pick<ImageFile, 'width' | 'height'>): void {
  const size = `${width} × ${height} pixels`;
  if (width === 0 || height === 0) throw refused('The image has no pixels. Upload it again.');
  if (width !== height)
    throw refused(`The image is not square: it has ${size}. Upload one of 1400 × 1400 to 3000 × 3000 pixels.`);
  if (width < artworkSide.min)
    throw refused(`The image is too small: it has ${size}. Upload one of at least 1400 × 1400 pixels.`);
  if (width > artworkSide.max)
    throw refused(`The image is too large: it has ${size}. Upload one of at most 3000 × 3000 pixels.`);
}
