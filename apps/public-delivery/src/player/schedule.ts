import type { Break, Segment } from './playlists.ts';

/** Seconds, from and to. */
export type Span = readonly [number, number];

/** So much is loaded before it is heard: a minute that nobody hears would be counted as heard. */
export const aheadSeconds = 30;
const behindSeconds = 30;

/** Sound begins and ends with whole frames of 21 ms, and times of playlists are rounded. */
const frameSeconds = 0.05;

/**
 * The segment to load next: the first one from the position on that is not there, within what is loaded ahead.
 * @param limit seconds of the content that may be loaded now: up to the next break that was not played
 */
export const nextSegment = (
  segments: readonly Segment[],
  loaded: readonly Span[],
  position: number,
  limit: number,
): Segment | undefined =>
  segments.find(
    ({ start, end }) =>
      end - frameSeconds > position &&
      start < position + aheadSeconds &&
      start + frameSeconds < limit &&
      !loaded.some(([from, to]) => from <= start + frameSeconds && to >= end - frameSeconds),
  );

/** What is loaded and is far from the position: it makes room, and is loaded again when it is needed. */
export const staleSpans = (loaded: readonly Span[], position: number): readonly Span[] => {
  const [from, to] = [position - behindSeconds, position + 2 * aheadSeconds];
  return loaded.flatMap(([start, end]): Span[] => [
    ...(start < from ? [[start, Math.min(end, from)] as const] : []),
    ...(end > to ? [[Math.max(start, to), end] as const] : []),
  ]);
};

/** The break to play at a position: the last one that was passed and not played. Who jumps over several hears the ads of one. */
export const dueBreak = (breaks: readonly Break[], played: ReadonlySet<Break>, position: number): Break | undefined =>
  breaks.findLast((each) => each.at <= position && !played.has(each));

/** Up to where the content may be loaded. */
export const loadLimit = (breaks: readonly Break[], played: ReadonlySet<Break>): number =>
  Math.min(Infinity, ...breaks.filter((each) => !played.has(each)).map(({ at }) => at));

/** "1:02", or "1:00:02" from an hour on. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds || 0));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (number: number) => String(number).padStart(2, '0');
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
}
