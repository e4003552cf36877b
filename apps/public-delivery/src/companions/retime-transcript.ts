import type { Transcript, TranscriptCue } from '@longwave/transcript';
import type { Stretch } from '../arrangements/time-map.ts';

/** The part of a cue that sounds in a stretch, in content time. */
const overlap = ({ start_ms, end_ms }: TranscriptCue, { contentMs, durationMs }: Stretch) => ({
  startMs: Math.max(start_ms, contentMs),
  endMs: Math.min(end_ms, contentMs + durationMs),
});

/**
 * A transcript at the times of one delivered file. A cue with a break inside of it is shown where most of it sounds, of equals before
 * the break, never over the ads. Cues outside of the content are left out.
 */
export function retimeTranscript({ version, cues }: Transcript, stretches: readonly Stretch[]): Transcript {
  const retimed = cues.flatMap((cue): TranscriptCue[] => {
    let longestMs = 0;
    let place: { start_ms: number; end_ms: number } | undefined;
    for (const stretch of stretches) {
      const { startMs, endMs } = overlap(cue, stretch);
      if (endMs - startMs <= longestMs) continue;
      longestMs = endMs - startMs;
      const shiftMs = stretch.deliveredMs - stretch.contentMs;
      place = { start_ms: startMs + shiftMs, end_ms: endMs + shiftMs };
    }
    return place ? [{ ...cue, ...place }] : [];
  });
  return { version, cues: retimed.sort((a, b) => a.start_ms - b.start_ms) };
}
