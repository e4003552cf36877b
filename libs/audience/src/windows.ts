import { dayMs, dayStartMs } from './count-sessions.ts';

/** The three windows of measurement.md D9. */
export type Window = 'calendar_utc' | 'first_touch_24h' | 'last_touch_24h';

/**
 * Which of these qualifying session starts (milliseconds, ascending) are downloads under a window:
 * `calendar_utc` the first of each UTC date; `first_touch_24h` when the previous counted start is ≥ 24 h earlier;
 * `last_touch_24h` when the previous start, counted or not, is ≥ 24 h earlier.
 */
export function countedStarts(window: Window, startsMs: readonly number[]): boolean[] {
  let lastCounted = -Infinity;
  return startsMs.map((start, index) => {
    const previous = startsMs[index - 1] ?? -Infinity;
    const counted =
      window === 'calendar_utc'
        ? previous === -Infinity || dayStartMs(previous) !== dayStartMs(start)
        : start - (window === 'first_touch_24h' ? lastCounted : previous) >= dayMs;
    if (counted) lastCounted = start;
    return counted;
  });
}
