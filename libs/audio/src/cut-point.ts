import { nearestFrameBoundary } from './canonical.ts';

/** How far a cut may move to fall into a silence. */
const maxSnapMs = 2_000;

/**
 * The cut of audio of `frames` frames for a break at `timeMs`: the frame boundary nearest to the middle of a silence, when one lies
 * at most two seconds away, else the one nearest to the time itself (docs/services/public-delivery.md#breaks). The nearest middle wins, of two as near
 * the earlier one. The answer is a number of frames: 0 is before the first one, `frames` behind the last.
 * @param silences [start, end) in milliseconds of the audio, in order
 */
export function cutPoint(
  timeMs: number,
  frames: number,
  silences: readonly (readonly [number, number])[] = [],
): number {
  const distance = (ms: number) => Math.abs(ms - timeMs);
  const middle = silences
    .map(([startMs, endMs]) => (startMs + endMs) / 2)
    .filter((ms) => distance(ms) <= maxSnapMs)
    .reduce<number | undefined>(
      (best, ms) => (best === undefined || distance(ms) < distance(best) ? ms : best),
      undefined,
    );
  return Math.min(Math.max(0, nearestFrameBoundary(middle ?? timeMs)), frames);
}
