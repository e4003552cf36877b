import type { TimeMap } from '../arrangements/time-map.ts';
import type { Chapters } from '../projection/projected.ts';

/** JSON chapters of the Podcasting 2.0 namespace, version 1.2.0. */
export const chaptersContentType = 'application/json+chapters';

const seconds = (ms: number) => ms / 1000;

/** The times of a file without ads, in which the content begins `shiftMs` later. */
export const shiftedBy = (shiftMs: number): Pick<TimeMap, 'beginOf' | 'endOf'> => ({
  beginOf: (ms) => ms + shiftMs,
  endOf: (ms) => ms + shiftMs,
});

/** The public chapters document at the times of one file. Equal inputs give equal bytes. */
export function renderChaptersDocument(
  chapters: Chapters,
  { beginOf, endOf }: Pick<TimeMap, 'beginOf' | 'endOf'>,
): Buffer {
  const document = {
    version: '1.2.0',
    chapters: chapters.map(({ start_ms, end_ms, title, url, image_url, toc }) => ({
      startTime: seconds(beginOf(start_ms)),
      ...(end_ms !== undefined && { endTime: seconds(Math.max(beginOf(start_ms), endOf(end_ms))) }),
      title,
      ...(image_url !== undefined && { img: image_url }),
      ...(url !== undefined && { url }),
      ...(toc === false && { toc }),
    })),
  };
  return Buffer.from(JSON.stringify(document), 'utf8');
}
