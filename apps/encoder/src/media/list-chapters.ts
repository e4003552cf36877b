/** A chapter as a container states it. */
export interface FoundChapter {
  readonly startSeconds: number;
  /** Not a number when the container does not state it. */
  readonly endSeconds: number;
  readonly title: string;
}

/** A chapter as an episode carries it; without an end it lasts until the next one, or the end of the audio. */
export interface ListedChapter {
  readonly start_ms: number;
  readonly title: string;
  readonly end_ms?: number;
}

const maxChapters = 1000;
const maxTitleLength = 255;
/** Less between two chapters is rounding, not a pause. */
const pauseMsMin = 500;

/**
 * Chapters in order and within the audio, the last one of several at the same time, each with a title of one line. A chapter without a
 * title is named by its number; an end is stated only where a pause follows.
 */
export function listChapters(found: readonly FoundChapter[], durationMs: number): ListedChapter[] {
  const sorted = [...found]
    .sort((a, b) => a.startSeconds - b.startSeconds)
    .map(({ startSeconds, endSeconds, title }) => ({
      startMs: Math.max(0, Math.round(startSeconds * 1000)),
      endMs: Math.round(endSeconds * 1000),
      title: cleanTitle(title),
    }))
    .filter(({ startMs }) => startMs < durationMs)
    .filter(({ startMs }, index, all) => startMs !== all[index + 1]?.startMs)
    .slice(0, maxChapters);
  return sorted.map(({ startMs, endMs, title }, index) => {
    const nextMs = sorted[index + 1]?.startMs ?? durationMs;
    return {
      start_ms: startMs,
      title: title || `Chapter ${index + 1}`,
      ...(endMs > startMs && endMs <= nextMs - pauseMsMin && { end_ms: endMs }),
    };
  });
}

/** One line of well-formed text without control and direction-changing characters, at most 255 UTF-16 units. */
function cleanTitle(title: string): string {
  const line = title
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\uFEFF\uFFFE\uFFFF\u202A-\u202E\u2066-\u2069]/gu, '')
    .trim();
  if (line.length <= maxTitleLength) return line;
  let cut = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(line)) {
    if (cut.length + segment.length >= maxTitleLength) break;
    cut += segment;
  }
  return `${cut.trimEnd()}…`;
}
