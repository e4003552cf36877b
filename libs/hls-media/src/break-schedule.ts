import { durationTicks, type CellIndex } from './cell-index.ts';
import { nearestCell } from './segments.ts';

/** A break as the MP3 has it. */
export interface PlannedBreak {
  readonly key: string;
  readonly position: 'pre' | 'mid' | 'post';
  /** Where the MP3 is cut for it, in the episode's own audio. */
  readonly contentMs: number;
}

/** A break in the time of a presentation: of its sound without ads, from the intro's beginning. */
export interface ScheduledBreak {
  readonly key: string;
  readonly position: 'pre' | 'mid' | 'post';
  readonly startMs: number;
}

/** Players miss date ranges that begin nearer to the end. */
const distanceFromEndMs = 2500;

const order = { pre: 0, mid: 1, post: 2 } as const;

/**
 * Where the breaks of a play stand: before the intro, at the cell nearest to the cut of the MP3, and 2.5 s before the end. A mid-roll
 * nearer than that to the end is left out, and so is a post-roll of a shorter presentation. Depends on no decision. Breaks at the same time
 * keep their order.
 * @param audio the index of the sound, with intro and outro
 * @param contentStart ticks before the episode's own audio: the length of the intro
 */
export function scheduleBreaks(
  audio: CellIndex,
  contentStart: number,
  breaks: readonly PlannedBreak[],
): ScheduledBreak[] {
  const toMs = (ticks: number) => (ticks * 1000) / audio.timescale;
  const lastMs = toMs(durationTicks(audio)) - distanceFromEndMs;
  const startOf = ({ position, contentMs }: PlannedBreak) => {
    if (position === 'pre') return 0;
    if (position === 'post') return lastMs;
    return toMs(audio.cells[nearestCell(audio, toMs(contentStart) + contentMs)]![2]);
  };
  return breaks
    .map(({ key, position, contentMs }) => ({ key, position, startMs: startOf({ key, position, contentMs }) }))
    .filter(({ position, startMs }) => position === 'pre' || (startMs >= 0 && startMs <= lastMs))
    .map((each) => ({ ...each, startMs: Math.round(each.startMs) }))
    .sort((a, b) => order[a.position] - order[b.position] || a.startMs - b.startMs);
}

/** The cells of a track that begin a segment because of a break. A post-roll waits for the end, so it begins none. */
export const breakCells = (track: CellIndex, schedule: readonly ScheduledBreak[]): number[] =>
  schedule.filter(({ position }) => position === 'mid').map(({ startMs }) => nearestCell(track, startMs));
