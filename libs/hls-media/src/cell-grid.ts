import { cutPoint, durationMsOfFrames, framesOfSamples, type Silence } from '@longwave/audio';
import { aacTrack, type FrameRate } from './aac-track.ts';

/** The shortest distance between two cells that begin where sound should be cut, and from the last of them to the end. */
const minDistanceMs = 2000;
/** A gap of this length or more is split … */
const splitFromMs = 4000;
/** … into equal parts of at most this length. */
const maxPartMs = 3000;

function splitEvenly(fromMs: number, toMs: number): number[] {
  const parts = toMs - fromMs < splitFromMs ? 1 : Math.ceil((toMs - fromMs) / maxPartMs);
  return Array.from({ length: parts }, (_, part) => fromMs + ((toMs - fromMs) * part) / parts);
}

/** Index of the first of `sorted` times that is later than `ms`. */
function indexAfter(sorted: readonly number[], ms: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The times, in milliseconds, at which the cells of one sound begin; the first is 0. Cells begin where the MP3 is cut for the markers
 * (`cutPoint`), then in the middle of silences, the longest first, each at least 2 s from the others and from the end; what lies between is
 * split into parts of 2 to 3 s. A cell is therefore shorter than 4 s, and at least 2 s long unless the whole sound is shorter. Equal inputs
 * give the same grid, whatever the order of markers and silences.
 * @param samples length of the sound at 48 kHz, per channel; more than 0
 * @param markersMs places known today where ads may be inserted
 */
export function cellGrid(samples: number, markersMs: readonly number[], silences: readonly Silence[]): number[] {
  const endMs = (samples * 1000) / aacTrack.sampleRate;
  const inOrder = silences.toSorted(([a], [b]) => a - b);
  const cuts = markersMs
    .toSorted((a, b) => a - b)
    .map((ms) => durationMsOfFrames(cutPoint(ms, framesOfSamples(samples), inOrder)));
  const middles = inOrder
    .toSorted((a, b) => b[1] - b[0] - (a[1] - a[0]))
    .map(([startMs, silenceEndMs]) => (startMs + silenceEndMs) / 2);
  const taken = [0];
  for (const ms of [...cuts, ...middles]) {
    const after = indexAfter(taken, ms);
    const isFree = ms - taken[after - 1]! >= minDistanceMs && (taken[after] ?? Infinity) - ms >= minDistanceMs;
    if (isFree && endMs - ms >= minDistanceMs) taken.splice(after, 0, ms);
  }
  return taken.flatMap((fromMs, index) => splitEvenly(fromMs, taken[index + 1] ?? endMs));
}

/** The first frame of each cell of `cellGrid`, at the frame boundary nearest to its time. */
export const firstFrames = (gridMs: readonly number[], { frames, seconds }: FrameRate): number[] =>
  gridMs.map((ms) => Math.round((ms * frames) / (seconds * 1000)));
