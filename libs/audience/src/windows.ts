import { byStart, dayMs, dayStartMs, type ServedRequest } from './served-request.ts';
import { shortestRun } from './threshold.ts';

/** The three windows (docs/counting.md#the-three-windows); the first is the published default. */
export const windows = ['calendar_utc', 'first_touch_24h', 'last_touch_24h'] as const;
export type Window = (typeof windows)[number];

/**
 * Those of the qualifying starts (milliseconds, ascending) that are downloads under a window:
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

/** One time that a listener reached the threshold, and whether each rolling window counts it (docs/counting.md#the-three-windows). */
export interface RollingDownload<R extends ServedRequest = ServedRequest> {
  /** The request that it began with; its listener key and start are the download's. */
  readonly first: R;
  /** The window first_touch_24h counts it. */
  readonly firstTouch: boolean;
  /** The window last_touch_24h counts it. */
  readonly lastTouch: boolean;
}

/** The requests that rolling downloads begin with, oldest first. */
function firstRequests<R extends ServedRequest>(ordered: readonly R[]): R[] {
  const firsts: R[] = [];
  for (let at = 0, end = 0; at < ordered.length;) {
    const first = ordered[at]!;
    while (end < ordered.length && ordered[end]!.startedAtMs < first.startedAtMs + dayMs) end++;
    const length = shortestRun(ordered, at, end);
    if (length !== undefined) {
      firsts.push(first);
      at += length;
    } else if (end === ordered.length) break;
    // A later run within the same 24 h has fewer of the same requests: the next one that can qualify includes the request at `end`.
    else while (ordered[at]!.startedAtMs <= ordered[end]!.startedAtMs - dayMs) at++;
  }
  return firsts;
}

/**
 * Counts the requests of one listener and one episode in the rolling windows. A rolling download is the shortest run of requests, within 24 h of its
 * first, that reaches the threshold in one arrangement; the next begins after it. Counts depend on the set of requests alone, and
 * nothing reaches across a gap of 24 h or more between two requests. The caller merges requests with the same id first.
 */
export function countRollingDownloads<R extends ServedRequest>(requests: Iterable<R>): RollingDownload<R>[] {
  const firsts = firstRequests([...requests].sort(byStart));
  const starts = firsts.map((first) => first.startedAtMs);
  const inFirst = countedStarts('first_touch_24h', starts);
  const inLast = countedStarts('last_touch_24h', starts);
  return firsts.map((first, index) => ({ first, firstTouch: inFirst[index]!, lastTouch: inLast[index]! }));
}
