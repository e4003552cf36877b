import { requirePublished } from './analytics-gate.ts';
import { decideEpisodeRange, type AnalyticsRange, type EpisodeRangeQuery } from './analytics-range.ts';
import type { Question } from './question.ts';

/** The range of an episode's numbers. The query is checked before the state of the episode. */
export function rangeOfEpisode(
  { query, object: episode, access }: Pick<Question<'episodes', EpisodeRangeQuery>, 'query' | 'object' | 'access'>,
  now: Date,
): AnalyticsRange {
  const { historyDays } = access.plan;
  decideEpisodeRange(query, now, historyDays, now);
  return decideEpisodeRange(query, requirePublished(episode), historyDays, now);
}
