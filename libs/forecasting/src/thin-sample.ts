import { seedOf } from '@longwave/ad-decision';
import type { SamplePlay } from './sample-play.ts';

/** The largest number of rows per podcast with which all podcasts together have at most so many. */
function findCap(counts: readonly number[], maxRows: number): number {
  let [left, podcasts] = [maxRows, counts.length];
  for (const count of counts.toSorted((a, b) => a - b)) {
    if (count * podcasts > left) return Math.max(1, Math.floor(left / podcasts));
    left -= count;
    podcasts--;
  }
  return Infinity;
}

/**
 * A part of a sample, so that time and memory of a question have a bound: small podcasts keep every play, large ones whole listeners, all
 * of one or none. What is kept weighs as much as the podcast did. The plays themselves when they are few enough.
 * @param maxRows a little more or less may be kept: listeners have different numbers of plays
 */
export function thinSample(plays: readonly SamplePlay[], maxRows: number): readonly SamplePlay[] {
  if (plays.length <= maxRows) return plays;
  const podcasts = new Map<string, { rows: number; weight: number; kept: number }>();
  for (const { podcastId, weight } of plays) {
    const podcast = podcasts.get(podcastId);
    if (!podcast) podcasts.set(podcastId, { rows: 1, weight, kept: 0 });
    else {
      podcast.rows++;
      podcast.weight += weight;
    }
  }
  const cap = findCap(
    [...podcasts.values()].map(({ rows }) => rows),
    maxRows,
  );
  const kept = plays.filter(({ podcastId, listener, weight }, at) => {
    const podcast = podcasts.get(podcastId)!;
    const isKept = seedOf(`thin ${podcastId} ${listener || at}`) / 2 ** 32 < cap / podcast.rows;
    if (isKept) podcast.kept += weight;
    return isKept;
  });
  return kept.map((play) => {
    const { weight, kept: keptWeight } = podcasts.get(play.podcastId)!;
    return keptWeight === weight ? play : { ...play, weight: (play.weight * weight) / keptWeight };
  });
}
