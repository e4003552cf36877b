import { callOptions } from '@longwave/hosting-client';
import {
  batchesOrNone,
  decideRange,
  isEmpty,
  jointBasis,
  listMeasuredPodcasts,
  type MeasuredPodcast,
  permitSomeAnalytics,
  type PodcastBatch,
  podcastRangeQuery,
  renderMeta,
  shortestHistory,
  wireRange,
  episodeCount,
  countedStates,
  renderEpisodeCount,
  metaSchema,
} from '@longwave/podcast-analytics';
import { z } from 'zod';
import { pageLinks } from '../list-answer.ts';
import { defineRoute, type Call, type Deps } from '../route.ts';

const perPageDefault = 50;

/** Downloads per episode of podcasts in any workspace. */
async function countEpisodes(
  caller: Call['caller'],
  measured: readonly MeasuredPodcast[],
  range: ReturnType<typeof wireRange>,
  { audience }: Deps,
) {
  const count = (batch: PodcastBatch) => audience.countEpisodes({ ...batch, range }, callOptions(caller));
  const [first, ...others] = await Promise.all(batchesOrNone(caller, measured).map(count));
  return { episodes: [first!, ...others].flatMap(({ episodes }) => episodes), basis: jointBasis(first!, ...others) };
}

type Row = z.output<typeof episodeCount> & { readonly podcast_id: string; readonly podcast_title: string };

/** Most downloaded first, then the newest, then by id, so that pages never overlap. */
function byDownloads(a: Row, b: Row): number {
  const newestFirst = ({ published_at: at }: Row) => -Date.parse(at ?? '1970-01-01');
  return b.downloads - a.downloads || newestFirst(a) - newestFirst(b) || (a.episode_id < b.episode_id ? -1 : 1);
}

/**
 * GET /analytics/episodes: the episodes of every podcast that the caller may measure, a page at a time. As with one podcast, published
 * episodes are there also without downloads, and whatever else was downloaded, so that the sums agree.
 */
export const analyticsEpisodes = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'analyticsEpisodes',
    summary:
      'Episodes of all podcasts whose analytics the caller may see, with their downloads in the range, most downloaded first, in pages.',
    permit: permitSomeAnalytics,
    query: podcastRangeQuery.omit({ window: true, known_at: true }).extend({
      page: z.int().min(1).default(1),
      per_page: z.int().min(1).max(100).default(perPageDefault),
    }),
    answer: {
      name: 'AnalyticsEpisodes',
      schema: z.strictObject({
        meta: metaSchema,
        objects: z.array(z.strictObject({ podcast_id: z.string(), podcast_title: z.string(), ...episodeCount.shape })),
      }),
    },
    headers: {
      Link: 'First, previous, next and last page (RFC 8288).',
      'X-Total-Count': 'Episodes of all pages.',
    },
    refusals: [403],
    run: async ({ caller, query, url }, deps) => {
      const { page, per_page: perPage, ...rangeQuery } = query;
      const measured = await listMeasuredPodcasts(caller, deps);
      const range = decideRange(rangeQuery, shortestHistory(measured), deps.clock());
      const { episodes: counted, basis } = await countEpisodes(caller, measured, wireRange(range), deps);
      const downloads = new Map(
        isEmpty(range)
          ? []
          : counted.map(({ podcastId, episodeId, downloads: count }) => [
              episodeId,
              { podcastId, count: Number(count) },
            ]),
      );
      const titles = new Map(measured.map(({ podcast }) => [podcast.id, podcast.attributes.title]));
      const rows = new Map<string, Row>();
      const add = (episodeId: string, podcastId: string, episode: Parameters<typeof renderEpisodeCount>[1]) =>
        rows.set(episodeId, {
          podcast_id: podcastId,
          podcast_title: titles.get(podcastId)!,
          ...renderEpisodeCount(episodeId, episode, downloads.get(episodeId)?.count ?? 0),
        });
      // Read a page at a time: of each episode only its row is kept.
      for await (const found of deps.management.pages(caller, 'episodes', { states: countedStates }))
        for (const episode of found) {
          const podcastId = episode.links['podcast'] ?? '';
          const isShown = episode.lifecycle_state === 'published' || downloads.has(episode.id);
          if (titles.has(podcastId) && isShown) add(episode.id, podcastId, episode);
        }
      // Management may no longer know an episode that has downloads.
      for (const [episodeId, { podcastId }] of downloads)
        if (!rows.has(episodeId)) add(episodeId, podcastId, undefined);
      const last = Math.max(1, Math.ceil(rows.size / perPage));
      return {
        status: 200,
        body: {
          meta: renderMeta(range, basis),
          objects: [...rows.values()].sort(byDownloads).slice((page - 1) * perPage, page * perPage),
        },
        headers: { Link: pageLinks(new URL(url, deps.baseUrl).href, page, last), 'X-Total-Count': String(rows.size) },
      };
    },
  });
