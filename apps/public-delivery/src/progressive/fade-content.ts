import { bytesOfFrames, canonicalFormat, fadeFrames, frameAtTime } from '@longwave/audio';
import type { Composition } from '../projection/content-table.ts';
import type { Rendition } from '../projection/projected.ts';
import type { FilledBreak } from '../arrangements/arranged-breaks.ts';

/** A stretch of the content that fades, in content time; whole frames. */
export interface FadeSpan {
  readonly contentMs: number;
  readonly durationMs: number;
  readonly direction: 'in' | 'out';
}

/** The stretch with its faded bytes. */
export interface FadedContent extends FadeSpan {
  readonly bytes: Buffer;
}

/**
 * The stretches that fade around the breaks inside of the content: before each break and behind it, unless the break lies in a silence. A fade
 * takes at most a third of the content up to the next break, so that the rest of it keeps its level.
 */
export function fadeSpans(
  { durationMs }: Pick<Rendition, 'durationMs'>,
  breaks: readonly Pick<FilledBreak, 'position' | 'contentMs'>[],
  { breakFadeMs, silences }: Pick<Composition, 'breakFadeMs' | 'silences'>,
): FadeSpan[] {
  const cuts = breaks.filter(({ position }) => position === 'mid').map(({ contentMs }) => contentMs);
  const lengthOf = (contentMs: number) => frameAtTime(Math.min(breakFadeMs, contentMs / 3)) * canonicalFormat.frameMs;
  const isSilent = (ms: number) => silences.some(([start, end]) => start <= ms && ms <= end);
  return cuts
    .flatMap((cut, i): FadeSpan[] => {
      if (isSilent(cut)) return [];
      const before = lengthOf(cut - (cuts[i - 1] ?? 0));
      const behind = lengthOf((cuts[i + 1] ?? durationMs) - cut);
      return [
        { contentMs: cut - before, durationMs: before, direction: 'out' },
        { contentMs: cut, durationMs: behind, direction: 'in' },
      ];
    })
    .filter((span) => span.durationMs > 0);
}

/** Fades the content's own bytes. @param read bytes [from, to) of it */
export const fadeContent = (
  spans: readonly FadeSpan[],
  read: (from: number, to: number) => Promise<Buffer>,
): Promise<FadedContent[]> =>
  Promise.all(
    spans.map(async (span) => {
      const from = bytesOfFrames(frameAtTime(span.contentMs));
      const frames = await read(from, from + bytesOfFrames(frameAtTime(span.durationMs)));
      return { ...span, bytes: fadeFrames(frames, span.direction) };
    }),
  );
