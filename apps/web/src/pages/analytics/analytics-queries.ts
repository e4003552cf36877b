import { get } from '../../api/queries.ts';
import type { Step } from '../../parts/chart/calendar.ts';
import type { DayRange } from './analytics-search.ts';

/** Numbers of one podcast, or of one of its episodes. */
export interface NumbersOf {
  readonly podcastId: string;
  readonly episodeId?: string | undefined;
}

/** Downloads over time, by days of a zone. `to` is a day, or the instant of an hour. Each of these queries is refused without analytics in the plan. */
export const seriesQuery = ({ podcastId, episodeId }: NumbersOf, { from, to }: DayRange, step: Step, zone: string) => {
  const query = { from, to, granularity: step, time_zone: zone };
  const path = episodeId === undefined ? '/podcasts/{id}/analytics' : '/episodes/{id}/analytics';
  return get(path, { path: { id: episodeId ?? podcastId }, query });
};

/** Dimensions that a page shows. */
export type Dimension = 'country' | 'app' | 'device';

/** Downloads by one dimension, by days of UTC. */
export const dimensionQuery = ({ podcastId, episodeId }: NumbersOf, { from, to }: DayRange, dimension: Dimension) => {
  const query = { from, to, dimension };
  const path = episodeId === undefined ? '/podcasts/{id}/analytics/listeners' : '/episodes/{id}/analytics/listeners';
  return get(path, { path: { id: episodeId ?? podcastId }, query });
};

/** Downloads of each episode in a range, by days of UTC. */
export const episodesInRangeQuery = (podcastId: string, { from, to }: DayRange) =>
  get('/podcasts/{id}/analytics/episodes', { path: { id: podcastId }, query: { from, to } });

/** Downloads of each episode in so many first days, that of its publication with them. */
export const episodesAtAgeQuery = (podcastId: string, days: number) =>
  get('/podcasts/{id}/analytics/episodes', { path: { id: podcastId }, query: { days_since_published: days - 1 } });

/** Distinct listeners of each of the last twelve months. */
export const listenersQuery = (podcastId: string) =>
  get('/podcasts/{id}/insights/listeners_over_time', { path: { id: podcastId } });

/** Ads delivered in a range, by days of UTC. */
export const adsQuery = (podcastId: string, { from, to }: DayRange) =>
  get('/podcasts/{id}/analytics/ads', { path: { id: podcastId }, query: { from, to, granularity: 'month' } });
