/** Half-open. */
type Interval = readonly [from: number, to: number];

/** A Postgres `int8multirange` literal. */
export function renderMultirange(intervals: readonly Interval[]): string {
  return `{${intervals.map(([from, to]) => `[${from},${to})`).join(',')}}`;
}

/** The intervals of an `int8multirange` as Postgres writes it (canonical: half-open, sorted, disjoint). */
export function parseMultirange(text: string): [from: number, to: number][] {
  return Array.from(text.matchAll(/\[(\d+),(\d+)\)/g), ([, from, to]) => [Number(from), Number(to)]);
}
