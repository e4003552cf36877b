import type { Id3Chapter } from '@longwave/audio';
import type { Chapters } from '../projection/projected.ts';

/** A table of contents of ID3 counts in one byte. */
const tagChaptersMax = 255;

/**
 * The listed chapters as the tag of a file wants them, each of them ending where the next one begins.
 * @param shiftMs where the content begins in the file
 * @param contentMs how long it is
 */
export function tagChapters(chapters: Chapters, shiftMs: number, contentMs: number): Id3Chapter[] {
  const listed = chapters.filter((chapter) => chapter.toc !== false).slice(0, tagChaptersMax);
  return listed.map(({ start_ms, end_ms, title }, i) => ({
    startMs: start_ms + shiftMs,
    endMs: Math.max(start_ms, end_ms ?? listed[i + 1]?.start_ms ?? contentMs) + shiftMs,
    title,
  }));
}
