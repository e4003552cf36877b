import type { Crop } from './artwork-plan.ts';

/** The pixels of an image; undefined when the browser cannot read it. */
export const readImage = (file: Blob): Promise<ImageBitmap | undefined> =>
  createImageBitmap(file).catch(() => undefined);

/** Draws the square of an image into a canvas. The pages' policy lets no `blob:` address load, and a canvas needs none. */
export function drawSquare(canvas: HTMLCanvasElement, image: ImageBitmap, { x, y, side, drawn }: Crop): void {
  canvas.width = canvas.height = drawn;
  canvas.getContext('2d')?.drawImage(image, x, y, side, side, 0, 0, drawn, drawn);
}

/** The whole of a square image, or the middle of another one, drawn with so many pixels. */
export function middleOf({ width, height }: ImageBitmap, drawn: number): Crop {
  const side = Math.min(width, height);
  return { x: Math.floor((width - side) / 2), y: Math.floor((height - side) / 2), side, drawn };
}

/** The square of an image as a file of the same type and name. */
export function cutFile(image: ImageBitmap, crop: Crop, { name, type, lastModified }: File): Promise<File | undefined> {
  const canvas = document.createElement('canvas');
  drawSquare(canvas, image, crop);
  return new Promise((resolve) =>
    canvas.toBlob((blob) => resolve(blob ? new File([blob], name, { type, lastModified }) : undefined), type, 0.92),
  );
}
