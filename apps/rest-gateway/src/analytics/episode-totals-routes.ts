import { z } from 'zod';
import { pageLinks } from '../list-answer.ts';
import type { Call, Tools } from '../route.ts';
import { defineRoute } from '../route.ts';
import { asking, isEmpty, jointBasis, renderMeta, wireRange } from './analytics-answer.ts';
import { listMeasuredPodcasts, permitSomeAnalytics, type MeasuredPodcast } from './analytics-gate.ts';
import { decideRange, podcastRangeQuery } from './analytics-range.ts';
import { answerOf, episodeCount, everyState, renderEpisodeCount } from './analytics-routes.ts';
import { shortestHistory } from './podcast-totals.ts';

/** What analytics-sink takes in one question. */
const mostPodcasts = 1000;
const perPageDefault = 50;

/** Downloads per episode, one question per workspace and 1000 podcasts. */
async function countEpisodes(
  caller: Call['caller'],
  measured: readonly MeasuredPodcast[],
  range: ReturnType<typeof wireRange>,
  { audience }: Tools,
) {
  const byWorkspace = Map.groupBy(measured, ({ access }) => access.workspaceId);
  const ask = (workspaceId: string, podcastIds: string[]) =>
    audience.countEpisodes({ workspaceId, podcastIds, range }, asking(caller));
  const questions = [...byWorkspace].flatMap(([workspaceId, members]) =>
    Array.from({ length: Math.ceil(members.length / mostPodcasts) }, (_, page) =>
      ask(
        workspaceId,
        members.slice(page * mostPodcasts, (page + 1) * mostPodcasts).map(({ podcast }) => podcast.id),
      ),
    ),
  );
  // Without any podcast the answer still says how and until when is counted.
  const [first, ...others] = await Promise.all(questions.length > 0 ? questions : [ask(caller.workspaceId, [])]);
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
    answer: answerOf(
      'AnalyticsEpisodes',
      z.strictObject({ podcast_id: z.string(), podcast_title: z.string(), ...episodeCount.shape }),
    ),
    headers: {
      Link: 'First, previous, next and last page (RFC 8288).',
      'X-Total-Count': 'Episodes of all pages.',
    },
    refusals: [403],
    run: async ({ caller, query, url }, tools) => {
      const { page, per_page: perPage, ...rangeQuery } = query;
      const measured = await listMeasuredPodcasts(caller, tools);
      const range = decideRange(rangeQuery, shortestHistory(measured), tools.clock());
      const { episodes: counted, basis } = await countEpisodes(caller, measured, wireRange(range), tools);
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
      for await (const found of tools.management.pages(caller, 'episodes', { states: everyState }))
        for (const episode of found) {
          const podcastId = episode.links['podcast'] ?? '';
          const isShown = episode.lifecycle_state === 'published' || downloads.has(episode.id);
          if (titles.has(podcastId) && isShown) add(episode.id, podcastId, episode);
        }
      // Downloads may be known of an episode that nobody else knows any more.
      for (const [episodeId, { podcastId }] of downloads)
        if (!rows.has(episodeId)) add(episodeId, podcastId, undefined);
      const last = Math.max(1, Math.ceil(rows.size / perPage));
      return {
        status: 200,
        body: {
          meta: renderMeta(range, basis),
          objects: [...rows.values()].sort(byDownloads).slice((page - 1) * perPage, page * perPage),
        },
        headers: { Link: pageLinks(new URL(url, tools.baseUrl).href, page, last), 'X-Total-Count': String(rows.size) },
      };
    },
  });
