/** Pixels of a side that directories take (Apple Podcasts: artwork requirements). */
const artworkSide = { min: 1400, max: 3000 } as const;
/** Bytes of the largest image that the service prepares. */
const artworkBytesMax = 20 * 1024 * 1024;

export interface ImageFacts {
  /** As the browser says it. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** Why an image cannot be artwork, not even a part of it. */
type ArtworkRefusal = 'not_image' | 'too_small' | 'too_large';

/** The square of the middle of an image, and the side that it is drawn with, in pixels. */
export interface Crop {
  readonly x: number;
  readonly y: number;
  readonly side: number;
  readonly drawn: number;
}

/** What can be done with an image: send it as it is, cut its middle first, or nothing. */
export type ArtworkPlan =
  | { readonly kind: 'fits' }
  | { readonly kind: 'cut'; readonly crop: Crop }
  | { readonly kind: 'refused'; readonly why: ArtworkRefusal };

const types: readonly string[] = ['image/jpeg', 'image/png'];

/** Whether a file may be artwork before its pixels are known. */
const isArtworkType = (type: string): boolean => types.includes(type);

/** Checks an image as directories do: a square JPEG or PNG of 1400 to 3000 pixels a side. */
export function planArtwork({ type, size, width, height }: ImageFacts): ArtworkPlan {
  if (!isArtworkType(type) || width === 0 || height === 0) return { kind: 'refused', why: 'not_image' };
  const side = Math.min(width, height);
  if (side < artworkSide.min) return { kind: 'refused', why: 'too_small' };
  const isSquare = width === height && side <= artworkSide.max;
  if (isSquare) return size > artworkBytesMax ? { kind: 'refused', why: 'too_large' } : { kind: 'fits' };
  const [x, y] = [Math.floor((width - side) / 2), Math.floor((height - side) / 2)];
  return { kind: 'cut', crop: { x, y, side, drawn: Math.min(side, artworkSide.max) } };
}
