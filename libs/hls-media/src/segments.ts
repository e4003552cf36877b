import type { CellIndex } from './cell-index.ts';

/** The longest time of a segment, and the target duration of every playlist, in seconds. */
export const targetSeconds = 6;

/** A run of cells: one entry of a media playlist. Offset and length are bytes of the track, start and duration ticks. */
export interface Segment {
  readonly offset: number;
  readonly length: number;
  readonly start: number;
  readonly duration: number;
}

/** Index of the cell that begins nearest to a time, the earlier of two. */
export function nearestCell({ cells, timescale }: CellIndex, timeMs: number): number {
  const distance = (cell: number) => Math.abs((cells[cell]![2] * 1000) / timescale - timeMs);
  let low = 0;
  let high = cells.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (distance(middle) <= distance(middle + 1)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The cells of a track in segments, each as long as 6 s allow; a cell of `breakCells` always begins one. No cell of `cellGrid` is longer
 * by itself: cells of sound are shorter than 4 s and a frame, cells of pictures shorter than 4 s and a picture, if that lasts at most 2 s.
 */
export function segmentsOf({ cells, timescale }: CellIndex, breakCells: readonly number[] = []): Segment[] {
  const begins = new Set(breakCells);
  const segments: Segment[] = [];
  for (const [cell, [offset, length, start, duration]] of cells.entries()) {
    const last = segments.at(-1);
    const isFull = !last || last.duration + duration > targetSeconds * timescale;
    if (isFull || begins.has(cell)) segments.push({ offset, length, start, duration });
    else segments[segments.length - 1] = { ...last, length: last.length + length, duration: last.duration + duration };
  }
  return segments;
}

/** Bits per second. */
export interface BitRates {
  /** Of the segment that has most. */
  readonly peak: number;
  /** Of all segments. */
  readonly average: number;
}

export function bitRates(index: CellIndex, segments: readonly Segment[] = segmentsOf(index)): BitRates {
  const rate = (bytes: number, ticks: number) => Math.ceil((bytes * 8 * index.timescale) / ticks);
  const sum = (of: 'length' | 'duration') => segments.reduce((total, segment) => total + segment[of], 0);
  return {
    peak: Math.max(...segments.map(({ length, duration }) => rate(length, duration))),
    average: rate(sum('length'), sum('duration')),
  };
}
