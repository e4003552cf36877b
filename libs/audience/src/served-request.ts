import type { Layout } from './credit.ts';
import { unionIntervals, type Interval } from './intervals.ts';
import type { Track } from './track.ts';

export const dayMs = 86_400_000;

/** The eligible bytes of one request. */
export interface ServedRequest {
  readonly requestId: string;
  readonly listenerKey: string;
  readonly arrangementId: string;
  readonly layout: Layout;
  readonly startedAtMs: number;
  readonly written: readonly Interval[];
  /** Of a request for a track of HLS: what the layout names. */
  readonly track?: Track | undefined;
  /** The play whose token it used within 24 h of the opening, with what its keys are compared by. */
  readonly play?: PlayUse | undefined;
}

/** How a request used the token of a play. */
export interface PlayUse {
  readonly playId: string;
  readonly addressKey: string;
  readonly userAgentDigest: string;
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
