import { partsOf, type ArrangementDocument } from './arrangement.ts';

/** One stretch of the episode's own audio in a file: content [contentMs, contentMs + durationMs) sounds from `deliveredMs` on. */
export interface Stretch {
  readonly contentMs: number;
  readonly deliveredMs: number;
  readonly durationMs: number;
}

/**
 * Content time and the time of one delivered file, in milliseconds. A time outside of the content counts as its nearest end. At a
 * break one time of the content is two of the file: a chapter that begins there begins behind the break, one that ends there ends before it.
 */
export interface TimeMap {
  /** Time of the file at which something begins that begins at this time of the content. */
  beginOf(contentMs: number): number;
  /** Time of the file at which something ends that ends at this time of the content. */
  endOf(contentMs: number): number;
  /** Time of the content at this time of the file; during a break, the time at which the break stands. */
  contentOf(deliveredMs: number): number;
}

/** @param stretches in order, without a gap in content time */
export function createTimeMap(stretches: readonly Stretch[]): TimeMap {
  const place = (contentMs: number, holds: (stretch: Stretch) => boolean) => {
    const stretch = stretches.find(holds) ?? stretches.at(-1);
    if (!stretch) return 0;
    return stretch.deliveredMs + Math.min(Math.max(0, contentMs - stretch.contentMs), stretch.durationMs);
  };
  return {
    beginOf: (ms) => place(ms, ({ contentMs, durationMs }) => ms < contentMs + durationMs),
    endOf: (ms) => place(ms, ({ contentMs, durationMs }) => ms <= contentMs + durationMs),
    contentOf: (ms) => {
      const stretch = stretches.findLast(({ deliveredMs }) => deliveredMs <= ms) ?? stretches[0];
      if (!stretch) return 0;
      return stretch.contentMs + Math.min(Math.max(0, ms - stretch.deliveredMs), stretch.durationMs);
    },
  };
}

/** The content of a file without ads, which begins behind the intro. */
export const stretchesWithoutAds = (introMs: number): Stretch[] => [
  { contentMs: 0, deliveredMs: introMs, durationMs: Infinity },
];

/** The episode's own audio in an arrangement, in order. */
export const stretchesOf = (document: ArrangementDocument): Stretch[] =>
  partsOf(document).flatMap(({ content_ms: contentMs }, index) => {
    const { start_ms: deliveredMs, dur_ms: durationMs } = document.timeline[index]!;
    return contentMs === undefined ? [] : [{ contentMs, deliveredMs, durationMs }];
  });
