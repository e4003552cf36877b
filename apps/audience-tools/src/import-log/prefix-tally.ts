/** A number of prefix requests: distinct listeners of an episode on a UTC date, not downloads. */
export interface PrefixCount {
  prefix_requests: number;
  /** Those that asked for the first two bytes alone. */
  first_two: number;
}

/** Prefix requests by podcast, episode and UTC day; keys are JSON of the ids and the day. */
export type PrefixTally = Map<string, PrefixCount>;

export const prefixKey = (podcastId: string, episodeId: string, day: string) =>
  JSON.stringify([podcastId, episodeId, day]);

export function addPrefixRequest(tally: PrefixTally, key: string, firstTwo: boolean): void {
  const sum = tally.get(key) ?? { prefix_requests: 0, first_two: 0 };
  sum.prefix_requests += 1;
  if (firstTwo) sum.first_two += 1;
  tally.set(key, sum);
}

/** A tally's rows in order: by podcast, episode, day. */
export function prefixRows(tally: PrefixTally) {
  return [...tally]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, count]) => {
      const [podcast_id, episode_id, day] = JSON.parse(key) as [string, string, string];
      return { podcast_id, episode_id, day, ...count };
    });
}
