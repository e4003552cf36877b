import { get, list, type Item } from '../../api/queries.ts';

export type PodcastRow = Item<'/podcasts'>;
export type EpisodeRow = Item<'/podcasts/{id}/episodes'>;

/** Fields of a list that its pages show: a whole podcast or episode has many more. */
const podcastFields = ['id', 'title', 'state', 'artwork', 'intro', 'outro', 'import', 'analytics', 'created_at'];
const episodeFields = [
  ...['id', 'title', 'state', 'season', 'number', 'type', 'artwork', 'duration_ms', 'current_production_id'],
  ...['publish_at', 'published_at', 'created_at'],
];

/** All podcasts that the session can see. */
export const podcastsQuery = list('/podcasts', { query: { 'fields_filter[]': podcastFields } });

export const podcastQuery = (id: string) => get('/podcasts/{id}', { path: { id } });

/** Whether a podcast has an overview for this person: the server refuses that of one that is not published, and to those who may not see numbers. */
export const isCounted = ({ state, analytics }: Pick<PodcastRow, 'state' | 'analytics'>): boolean =>
  state === 'published' && analytics !== 'not_permitted';

/** How many episodes a podcast has, and its numbers of the last 30 days where the plan includes them. Refused unless `isCounted`. */
export const overviewQuery = (id: string) => get('/podcasts/{id}/overview', { path: { id } });

/** The episodes of a podcast, newest first. */
export const episodesQuery = (id: string) =>
  list('/podcasts/{id}/episodes', {
    path: { id },
    query: { 'fields_filter[]': episodeFields, sort: '-created_at' },
  });

/** Downloads of each published episode in the last 30 days. Refused unless `isCounted`, and where `analytics` of the podcast is not `available`. */
export const episodeDownloadsQuery = (id: string) =>
  get('/podcasts/{id}/analytics/episodes', { path: { id }, query: { days_offset: 30 } });
