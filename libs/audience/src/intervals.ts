/** Half-open byte interval [from, to). */
export type Interval = readonly [from: number, to: number];

/** Sorted, disjoint, non-touching intervals covering the same bytes; empty ones are left out. */
export function unionIntervals(intervals: readonly Interval[]): Interval[] {
  // Most requests and facts have one interval.
  if (intervals.length === 1) return intervals[0]![0] < intervals[0]![1] ? [intervals[0]!] : [];
  const sorted = intervals.filter(([from, to]) => from < to).sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** Bytes of [from, to) that a union covers. */
export function coveredBytes(union: readonly Interval[], from: number, to: number): number {
  let bytes = 0;
  for (const [start, end] of union) bytes += Math.max(0, Math.min(end, to) - Math.max(start, from));
  return bytes;
}

/** Bytes of a union. */
export function totalBytes(union: readonly Interval[]): number {
  return union.reduce((sum, [from, to]) => sum + to - from, 0);
}
