/** Beginning and end of each silence in milliseconds, in order. */
export type Silences = readonly (readonly [startMs: number, endMs: number])[];

/** One frame of the delivered MP3: files are cut between two of them. */
export const frameMs = 24;
/** How far delivery moves a cut to have it in a silence (docs/services/public-delivery.md#breaks). */
const snapMsMax = 2000;

const middleOf = ([startMs, endMs]: readonly [number, number]) => (startMs + endMs) / 2;

/** Where the delivered file is cut for a break: between two frames, in the middle of a silence when one is near enough. */
export interface Join {
  readonly atMs: number;
  readonly isInSilence: boolean;
}

/** The join of a break at a time of sound of `durationMs`. The nearest silence wins, of two as near the earlier one. */
export function joinOf(ms: number, silences: Silences, durationMs: number): Join {
  const near = silences
    .map(middleOf)
    .filter((middle) => Math.abs(middle - ms) <= snapMsMax)
    .toSorted((a, b) => Math.abs(a - ms) - Math.abs(b - ms) || a - b);
  const atMs = Math.round((near[0] ?? ms) / frameMs) * frameMs;
  return { atMs: Math.min(Math.max(0, atMs), durationMs), isInSilence: near.length > 0 };
}

/** The middle of the next silence after a time, or before it; undefined where there is none. */
export function nextSilence(ms: number, silences: Silences, isForward: boolean): number | undefined {
  const middles = silences.map((silence) => Math.round(middleOf(silence)));
  return isForward ? middles.find((middle) => middle > ms) : middles.findLast((middle) => middle < ms);
}
