import { creditOf, isValidDownload, type Layout } from './credit.ts';
import { unionIntervals, type Interval } from './intervals.ts';

export const dayMs = 86_400_000;

/** The eligible bytes of one request. */
export interface ServedRequest {
  readonly requestId: string;
  readonly listenerKey: string;
  readonly arrangementId: string;
  readonly layout: Layout;
  readonly startedAtMs: number;
  readonly written: readonly Interval[];
}

/** Start of the UTC day, milliseconds since the epoch. */
export function dayStartMs(atMs: number): number {
  return Math.floor(atMs / dayMs) * dayMs;
}

/** UTC date, `YYYY-MM-DD`. */
export function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Order of start; requests of one instant by their id. */
export function byStart(a: ServedRequest, b: ServedRequest): number {
  return a.startedAtMs - b.startedAtMs || (a.requestId < b.requestId ? -1 : a.requestId > b.requestId ? 1 : 0);
}

/** The union of the bytes that these requests wrote. */
export function writtenBy(requests: readonly ServedRequest[]): readonly Interval[] {
  const [only] = requests;
  return requests.length === 1 ? only!.written : unionIntervals(requests.flatMap((request) => request.written));
}

/** Whether requests of one arrangement reach the threshold together. */
export function qualifies(own: readonly ServedRequest[]): boolean {
  const [first] = own;
  return first !== undefined && isValidDownload(first.layout, creditOf(first.layout, writtenBy(own)));
}

/** Whether any one arrangement of these requests reaches the threshold. */
function reachesThreshold(requests: readonly ServedRequest[]): boolean {
  const { arrangementId } = requests[0]!;
  if (requests.every((request) => request.arrangementId === arrangementId)) return qualifies(requests);
  return [...Map.groupBy(requests, (request) => request.arrangementId).values()].some(qualifies);
}

/**
 * The least number of requests from `from` on that reach the threshold in one arrangement; undefined when those before `to` do not.
 * More requests never credit less, so a doubling search finds it: its cost grows with the answer, not with the number of requests.
 */
export function shortestRun(ordered: readonly ServedRequest[], from: number, to: number): number | undefined {
  const max = to - from;
  const reaches = (length: number) => reachesThreshold(ordered.slice(from, from + length));
  let short = 0;
  let enough = 1;
  while (enough < max && !reaches(enough)) {
    short = enough;
    enough *= 2;
  }
  if (enough >= max) {
    if (max === 0 || !reaches(max)) return undefined;
    enough = max;
  }
  while (enough - short > 1) {
    const middle = (short + enough) >> 1;
    if (reaches(middle)) enough = middle;
    else short = middle;
  }
  return enough;
}
