import type { Chapters } from './projected.ts';

/** JSON chapters of the Podcasting 2.0 namespace, version 1.2.0. */
export const chaptersContentType = 'application/json+chapters';

const seconds = (ms: number) => ms / 1000;

/**
 * The public chapters document. Equal inputs give equal bytes.
 * @param shiftMs how much later the content begins in the file that is served without ads
 */
export function renderChaptersDocument(chapters: Chapters, shiftMs: number): Buffer {
  const document = {
    version: '1.2.0',
    chapters: chapters.map(({ start_ms, end_ms, title, url, image_url, toc }) => ({
      startTime: seconds(start_ms + shiftMs),
      ...(end_ms !== undefined && { endTime: seconds(end_ms + shiftMs) }),
      title,
      ...(image_url !== undefined && { img: image_url }),
      ...(url !== undefined && { url }),
      ...(toc === false && { toc }),
    })),
  };
  return Buffer.from(JSON.stringify(document), 'utf8');
}
