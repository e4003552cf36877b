import type { Id3Chapter } from '@longwave/audio';
import type { Chapters } from '../projection/projected.ts';
import type { TimeMap } from '../arrangements/time-map.ts';

/** A table of contents of ID3 counts its entries in one byte. */
const maxTagChapters = 255;

/**
 * The listed chapters as the tag of a file wants them, each of them ending where the next one begins. A chapter with a break inside
 * covers the break.
 */
export function tagChapters(chapters: Chapters, { beginOf, endOf }: TimeMap): Id3Chapter[] {
  const listed = chapters.filter((chapter) => chapter.toc !== false).slice(0, maxTagChapters);
  return listed.map(({ start_ms, end_ms, title }, i) => {
    const startMs = beginOf(start_ms);
    return { startMs, endMs: Math.max(startMs, endOf(end_ms ?? listed[i + 1]?.start_ms ?? Infinity)), title };
  });
}
