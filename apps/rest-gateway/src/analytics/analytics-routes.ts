import type { ResourceView } from '@longwave/events';
import { Dimension } from '@longwave/rpc/audience';
import { z } from 'zod';
import { defineRoute, type AnswerShape } from '../route.ts';
import {
  asking,
  bucketDate,
  isEmpty,
  metaSchema,
  renderMeta,
  wireGranularity,
  wireRange,
  type Basis,
} from './analytics-answer.ts';
import { permitEpisodeAnalytics, permitPodcastAnalytics, requirePublished } from './analytics-gate.ts';
import {
  decideEpisodeRange,
  decideRange,
  episodeRangeQuery,
  podcastRangeQuery,
  podcastSeriesQuery,
  type AnalyticsRange,
} from './analytics-range.ts';
import { withShares } from './figures.ts';

const count = z.int().min(0);
const object = { type: 'podcasts', from: 'path', field: 'id' } as const;

const answerOf = (name: string, one: z.ZodObject): AnswerShape => ({
  name,
  schema: z.strictObject({ meta: metaSchema, objects: z.array(one) }),
});
const bucket = z.strictObject({ date: z.string(), downloads: count, listeners: count });

/** One object per bucket; none when the range was cut to nothing. */
function renderBuckets(
  range: AnalyticsRange,
  counts: Basis & { readonly buckets: readonly { startMs: bigint; downloads: bigint; listeners: bigint }[] },
) {
  const objects = counts.buckets.map(({ startMs, downloads, listeners }) => ({
    date: bucketDate(startMs, range.granularity),
    downloads: Number(downloads),
    listeners: Number(listeners),
  }));
  return { status: 200, body: { meta: renderMeta(range, counts), objects: isEmpty(range) ? [] : objects } };
}

/** GET /podcasts/{id}/analytics. */
export const podcastAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastAnalytics',
    summary: 'Downloads and listeners of a podcast over time; buckets without data are zero.',
    object,
    permit: permitPodcastAnalytics,
    query: podcastSeriesQuery,
    answer: answerOf('PodcastAnalytics', bucket),
    refusals: [403],
    run: async ({ caller, access, id, query }, { audience, clock }) => {
      const { workspaceId, plan } = access!;
      const range = decideRange(query, plan.historyDays, clock());
      const scope = { workspaceId, podcastId: id, episodeId: '', range: wireRange(range), timeZone: query.time_zone };
      const granularity = wireGranularity[range.granularity];
      return renderBuckets(range, await audience.countDownloads({ ...scope, granularity }, asking(caller)));
    },
  });

/** GET /episodes/{id}/analytics. */
export const episodeAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'episodeAnalytics',
    summary: 'Downloads and listeners of one published episode over time; buckets without data are zero.',
    object: { type: 'episodes', from: 'path', field: 'id' },
    permit: permitEpisodeAnalytics,
    query: episodeRangeQuery,
    answer: answerOf('EpisodeAnalytics', bucket),
    refusals: [403],
    run: async (call, tools) => {
      const { workspaceId, podcastId, plan } = call.access!;
      const now = tools.clock();
      // What was asked for is judged before the state of the episode (design: rest-api.md, order of checks).
      decideEpisodeRange(call.query, now, plan.historyDays, now);
      const range = decideEpisodeRange(call.query, requirePublished(call.object), plan.historyDays, now);
      const scope = { workspaceId, podcastId: podcastId!, episodeId: call.id, range: wireRange(range) };
      const counts = await tools.audience.countDownloads(
        { ...scope, granularity: wireGranularity[range.granularity], timeZone: call.query.time_zone },
        asking(call.caller),
      );
      return renderBuckets(range, counts);
    },
  });

const episodeCount = z.strictObject({
  episode_id: z.string(),
  title: z.string().nullable(),
  published_at: z.string().nullable(),
  downloads: count,
});

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);

/** An episode with its count, as every answer shows it; null for what is not known of it. */
export const renderEpisodeCount = (
  episodeId: string,
  episode: ResourceView | undefined,
  downloads: number,
): z.output<typeof episodeCount> => ({
  episode_id: episodeId,
  title: textOf(episode?.attributes['title']),
  published_at: textOf(episode?.attributes['published_at']),
  downloads,
});

const everyState = ['draft', 'scheduled', 'published', 'unpublished', 'archived'];

/** GET /podcasts/{id}/analytics/episodes: the published ones, and whatever else was downloaded, so that the sum is the podcast's. */
export const podcastEpisodesAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastEpisodesAnalytics',
    summary: 'Downloads per episode in the range, the most first; published episodes without any are zero.',
    object,
    permit: permitPodcastAnalytics,
    query: podcastRangeQuery,
    answer: answerOf('EpisodesAnalytics', episodeCount),
    refusals: [403],
    run: async ({ caller, access, id, query }, { audience, management, clock }) => {
      const { workspaceId, plan } = access!;
      const range = decideRange(query, plan.historyDays, clock());
      const [counts, episodes] = await Promise.all([
        audience.countByEpisode({ workspaceId, podcastId: id, range: wireRange(range) }, asking(caller)),
        management.list(caller, 'episodes', { links: { podcast: id }, workspaceId, states: everyState }),
      ]);
      const byId = new Map(episodes.map((episode) => [episode.id, episode]));
      const counted = new Map(isEmpty(range) ? [] : counts.episodes.map((one) => [one.episodeId, one.downloads]));
      const published = episodes.filter((episode) => episode.lifecycle_state === 'published');
      const newestFirst = (text: string | null) => -Date.parse(text ?? '1970-01-01');
      const objects = [...new Set([...counted.keys(), ...published.map((episode) => episode.id)])]
        .map((episodeId) => renderEpisodeCount(episodeId, byId.get(episodeId), Number(counted.get(episodeId) ?? 0n)))
        .sort((a, b) => b.downloads - a.downloads || newestFirst(a.published_at) - newestFirst(b.published_at));
      return { status: 200, body: { meta: renderMeta(range, counts), objects } };
    },
  });

const dimensions = {
  country: Dimension.COUNTRY,
  region: Dimension.REGION,
  app: Dimension.APP,
  device: Dimension.DEVICE,
  platform: Dimension.PLATFORM,
} as const;
const dimensionNames = Object.keys(dimensions) as (keyof typeof dimensions)[];

/** GET /podcasts/{id}/analytics/listeners. */
export const podcastListenersAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastListenersAnalytics',
    summary: 'Where and with what a podcast was downloaded in the range: by country, region, app, device or platform.',
    object,
    permit: permitPodcastAnalytics,
    query: podcastRangeQuery.extend({ dimension: z.enum(dimensionNames).default('country') }),
    answer: answerOf(
      'ListenersAnalytics',
      z.strictObject({
        key: z.string(),
        dimension: z.enum(dimensionNames),
        downloads: count,
        share: z.number().min(0).max(1),
      }),
    ),
    refusals: [403],
    run: async ({ caller, access, id, query }, { audience, clock }) => {
      const { workspaceId, plan } = access!;
      const { dimension } = query;
      const range = decideRange(query, plan.historyDays, clock());
      const answer = await audience.countByDimension(
        {
          workspaceId,
          podcastId: id,
          episodeId: '',
          range: wireRange(range),
          dimension: dimensions[dimension],
        },
        asking(caller),
      );
      const counts = (isEmpty(range) ? [] : answer.counts).map(({ key, downloads }) => ({
        key,
        dimension,
        downloads: Number(downloads),
      }));
      return { status: 200, body: { meta: renderMeta(range, answer), objects: withShares(counts) } };
    },
  });
