import { maxCellsOfPart, type TrackDescribed } from '@longwave/events';
import { totalBytes, unionIntervals, type Interval } from './intervals.ts';

/** A track of HLS: which bytes play when, of all parts of its description. */
export type Track = Pick<TrackDescribed, 'media' | 'timescale' | 'cells'>;

/** A part of a description, by the digest of its track. */
export type TrackPart = Omit<TrackDescribed, 'kind' | 'fact_id' | 'at'>;

/** Divides the cells of a track into the parts that describe it. */
export function divideCells(
  cells: readonly (readonly [offset: number, length: number, start: number, duration: number])[],
  maxCells = maxCellsOfPart,
): Pick<TrackPart, 'part' | 'parts' | 'cells'>[] {
  const parts = Math.ceil(cells.length / maxCells);
  return Array.from({ length: parts }, (_, part) => ({
    part,
    parts,
    cells: cells.slice(part * maxCells, (part + 1) * maxCells).map(([...cell]) => cell),
  }));
}

/** The tracks all of whose parts are there, by digest; parts may come in any order and repeatedly. */
export function wholeTracks(described: Iterable<TrackPart>): Map<string, Track> {
  const tracks = new Map<string, Track>();
  for (const [digest, own] of Map.groupBy(described, ({ track }) => track)) {
    const { media, timescale, parts } = own[0]!;
    const cellsOf = new Map(own.map(({ part, cells }) => [part, cells]));
    if (cellsOf.size < parts) continue;
    const cells = Array.from({ length: parts }, (_, part) => cellsOf.get(part) ?? []).flat();
    tracks.set(digest, { media, timescale, cells });
  }
  return tracks;
}

/** The written bytes of one track. */
export interface WrittenTrack {
  readonly track: Track;
  /** A union, from `unionIntervals`. */
  readonly written: readonly Interval[];
}

/** What counting needs of a track: the bytes of each cell, in order, and its interval of time in nanoseconds. */
interface TimedTrack {
  readonly cells: readonly { readonly bytes: Interval; readonly time: Interval }[];
  readonly startNs: number;
  readonly endNs: number;
}

const timedTracks = new WeakMap<Track, TimedTrack>();

/** Pictures for seeking never play: of them there is nothing. */
function timed(track: Track): TimedTrack {
  const known = timedTracks.get(track);
  if (known !== undefined) return known;
  const { media, timescale } = track;
  // Rounded down: equal ticks stay equal, so cells still touch. Exact for 100 days.
  const nsOf = (ticks: number) => Number((BigInt(ticks) * 1_000_000_000n) / BigInt(timescale));
  const cells = (media === 'iframe' ? [] : track.cells)
    .map(([offset, length, start, duration]) => ({
      bytes: [offset, offset + length] as const,
      time: [nsOf(start), nsOf(start + duration)] as const,
    }))
    .sort((a, b) => a.bytes[0] - b.bytes[0]);
  const startNs = cells.reduce((earliest, { time }) => Math.min(earliest, time[0]), Infinity);
  const endNs = cells.reduce((latest, { time }) => Math.max(latest, time[1]), -Infinity);
  const made = { cells, startNs, endNs };
  timedTracks.set(track, made);
  return made;
}

/** The intervals of time of the cells all of whose bytes are written. */
function playedIntervals({ track, written }: WrittenTrack): Interval[] {
  let at = 0;
  return timed(track).cells.flatMap(({ bytes: [from, to], time }) => {
    while (at < written.length && written[at]![1] < to) at++;
    const piece = written[at];
    return piece !== undefined && piece[0] <= from ? [time] : [];
  });
}

/**
 * What the written bytes of the tracks of one asset play: the union, over its sound and its pictures, of the time of fully written
 * cells (docs/counting.md#hls). More bytes and more tracks never play less.
 * @returns `whole`: nothing is missing between where the last of the tracks begins and where the first of them ends
 */
export function playedOf(tracks: readonly WrittenTrack[]): { readonly playedNs: bigint; readonly whole: boolean } {
  const played = unionIntervals(tracks.flatMap(playedIntervals));
  const playable = tracks.map(({ track }) => timed(track)).filter(({ cells }) => cells.length > 0);
  const startNs = playable.reduce((latest, track) => Math.max(latest, track.startNs), 0);
  const endNs = playable.reduce((earliest, track) => Math.min(earliest, track.endNs), Infinity);
  return {
    playedNs: BigInt(totalBytes(played)),
    whole: played.some(([from, to]) => from <= startNs && to >= endNs),
  };
}
