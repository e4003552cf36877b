import type { Resource } from '@longwave/command-catalog';
import { Dimension } from '@longwave/rpc/audience';
import { z } from 'zod';
import { callOptions } from '../management/asker.ts';
import { defineRoute, type AnswerShape, type Call, type Deps, type ObjectCall } from '../route.ts';
import {
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
import { wireBasis, type CountingBasis } from './counting-basis.ts';
import { withShares } from './figures.ts';

const count = z.int().min(0);
const object = { type: 'podcasts', from: 'path', field: 'id' } as const;

export const answerOf = (name: string, one: z.ZodObject): AnswerShape => ({
  name,
  schema: z.strictObject({ meta: metaSchema, objects: z.array(one) }),
});
const bucket = z.strictObject({
  date: z.string(),
  downloads: count,
  listeners: count.nullable().describe('Null with `known_at`: the record of changes does not contain listeners.'),
});

/** One object per bucket; none when the range was cut to nothing. */
function renderBuckets(
  range: AnalyticsRange,
  counts: Basis & { readonly buckets: readonly { startMs: bigint; downloads: bigint; listeners: bigint }[] },
  basis: CountingBasis,
) {
  const objects = counts.buckets.map(({ startMs, downloads, listeners }) => ({
    date: bucketDate(startMs, range.granularity),
    downloads: Number(downloads),
    listeners: basis.known_at === undefined ? Number(listeners) : null,
  }));
  return { status: 200, body: { meta: renderMeta(range, counts, basis), objects: isEmpty(range) ? [] : objects } };
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
      const { workspaceId, plan } = access;
      const range = decideRange(query, plan.historyDays, clock());
      const scope = { workspaceId, podcastId: id, episodeId: '', range: wireRange(range), timeZone: query.time_zone };
      const granularity = wireGranularity[range.granularity];
      const counts = await audience.countDownloads({ ...scope, granularity, ...wireBasis(query) }, callOptions(caller));
      return renderBuckets(range, counts, query);
    },
  });

/** GET /episodes/{id}/analytics. */
export const episodeAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'episodeAnalytics',
    summary:
      'Downloads and listeners of one published episode over time; name the range by from and to, or by days_since_published.',
    object: { type: 'episodes', from: 'path', field: 'id' },
    permit: permitEpisodeAnalytics,
    query: episodeRangeQuery,
    answer: answerOf('EpisodeAnalytics', bucket),
    refusals: [403],
    run: async (call, deps) => {
      const { workspaceId, podcastId } = call.access;
      const range = rangeOfEpisode(call, deps.clock());
      const scope = { workspaceId, podcastId: podcastId!, episodeId: call.id, range: wireRange(range) };
      const counts = await deps.audience.countDownloads(
        {
          ...scope,
          granularity: wireGranularity[range.granularity],
          timeZone: call.query.time_zone,
          ...wireBasis(call.query),
        },
        callOptions(call.caller),
      );
      return renderBuckets(range, counts, call.query);
    },
  });

export const episodeCount = z.strictObject({
  episode_id: z.string(),
  title: z.string().nullable(),
  published_at: z.string().nullable(),
  downloads: count,
});

/** An episode with its count, as every answer shows it; null for what is not known of it. */
export const renderEpisodeCount = (
  episodeId: string,
  episode: Resource<'episodes'> | undefined,
  downloads: number,
): z.output<typeof episodeCount> => ({
  episode_id: episodeId,
  title: episode?.attributes.title ?? null,
  published_at: episode?.attributes.published_at ?? null,
  downloads,
});

export const everyState = ['draft', 'scheduled', 'published', 'unpublished', 'archived'];

/** GET /podcasts/{id}/analytics/episodes: the published ones, and whatever else was downloaded, so that the sum is the podcast's. */
export const podcastEpisodesAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastEpisodesAnalytics',
    summary:
      'Downloads per episode in the range, most downloaded first; published episodes without downloads are listed with zero.',
    object,
    permit: permitPodcastAnalytics,
    query: podcastRangeQuery,
    answer: answerOf('EpisodesAnalytics', episodeCount),
    refusals: [403],
    run: async ({ caller, access, id, query }, { audience, management, clock }) => {
      const { workspaceId, plan } = access;
      const range = decideRange(query, plan.historyDays, clock());
      const [counts, episodes] = await Promise.all([
        audience.countByEpisode(
          { workspaceId, podcastId: id, range: wireRange(range), ...wireBasis(query) },
          callOptions(caller),
        ),
        management.list(caller, 'episodes', { links: { podcast: id }, workspaceId, states: everyState }),
      ]);
      const byId = new Map(episodes.map((episode) => [episode.id, episode]));
      const counted = new Map(isEmpty(range) ? [] : counts.episodes.map((one) => [one.episodeId, one.downloads]));
      const published = episodes.filter((episode) => episode.lifecycle_state === 'published');
      const newestFirst = (text: string | null) => -Date.parse(text ?? '1970-01-01');
      const objects = [...new Set([...counted.keys(), ...published.map((episode) => episode.id)])]
        .map((episodeId) => renderEpisodeCount(episodeId, byId.get(episodeId), Number(counted.get(episodeId) ?? 0n)))
        .sort((a, b) => b.downloads - a.downloads || newestFirst(a.published_at) - newestFirst(b.published_at));
      return { status: 200, body: { meta: renderMeta(range, counts, query), objects } };
    },
  });

const dimensions = {
  country: Dimension.COUNTRY,
  region: Dimension.REGION,
  app: Dimension.APP,
  device: Dimension.DEVICE,
  platform: Dimension.PLATFORM,
  operating_system: Dimension.OPERATING_SYSTEM,
} as const;
const dimensionNames = Object.keys(dimensions) as (keyof typeof dimensions)[];

const dimensionQuery = { dimension: z.enum(dimensionNames).default('country') };

const dimensionCount = z.strictObject({
  key: z.string(),
  dimension: z.enum(dimensionNames),
  downloads: count,
  share: z.number().min(0).max(1),
});

/** Downloads of a podcast, or of one of its episodes, by a dimension; none when the range was cut to nothing. */
async function countByDimension(
  { caller, query }: Pick<Call<CountingBasis & { readonly dimension: keyof typeof dimensions }>, 'caller' | 'query'>,
  scope: { readonly workspaceId: string; readonly podcastId: string; readonly episodeId: string },
  range: AnalyticsRange,
  { audience }: Deps,
) {
  const { dimension } = query;
  const answer = await audience.countByDimension(
    { ...scope, range: wireRange(range), dimension: dimensions[dimension], ...wireBasis(query) },
    callOptions(caller),
  );
  const counts = (isEmpty(range) ? [] : answer.counts).map(({ key, downloads }) => ({
    key,
    dimension,
    downloads: Number(downloads),
  }));
  return { status: 200, body: { meta: renderMeta(range, answer, query), objects: withShares(counts) } };
}

/** GET /podcasts/{id}/analytics/listeners. */
export const podcastListenersAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastListenersAnalytics',
    summary:
      'Downloads of a podcast in the range by one dimension: country, region, app, device, platform or operating system.',
    object,
    permit: permitPodcastAnalytics,
    query: podcastRangeQuery.extend(dimensionQuery),
    answer: answerOf('ListenersAnalytics', dimensionCount),
    refusals: [403],
    run: async (call, deps) => {
      const { workspaceId, plan } = call.access;
      const range = decideRange(call.query, plan.historyDays, deps.clock());
      const scope = { workspaceId, podcastId: call.id, episodeId: '' };
      return countByDimension(call, scope, range, deps);
    },
  });

/** The range of an episode's numbers. The query is checked before the state of the episode. */
function rangeOfEpisode(
  {
    query,
    object: episode,
    access,
  }: Pick<ObjectCall<z.output<typeof episodeRangeQuery>, unknown, 'episodes'>, 'query' | 'object' | 'access'>,
  now: Date,
): AnalyticsRange {
  const { historyDays } = access.plan;
  decideEpisodeRange(query, now, historyDays, now);
  return decideEpisodeRange(query, requirePublished(episode), historyDays, now);
}

/** GET /episodes/{id}/analytics/listeners. */
export const episodeListenersAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'episodeListenersAnalytics',
    summary:
      'Downloads of one published episode in the range by one dimension: country, region, app, device, platform or operating system.',
    object: { type: 'episodes', from: 'path', field: 'id' },
    permit: permitEpisodeAnalytics,
    query: episodeRangeQuery.omit({ time_zone: true }).extend(dimensionQuery),
    answer: answerOf('EpisodeListenersAnalytics', dimensionCount),
    refusals: [403],
    run: async (call, deps) => {
      const { workspaceId, podcastId } = call.access;
      const scope = { workspaceId, podcastId: podcastId!, episodeId: call.id };
      return countByDimension(call, scope, rangeOfEpisode(call, deps.clock()), deps);
    },
  });

/** GET /podcasts/{id}/analytics/ads: what a podcaster sees of advertising; rates and buyers are the advertising side's. */
export const podcastAdsAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastAdsAnalytics',
    summary:
      'Ads delivered in a podcast over time. An ad is delivered when all its bytes were sent within a counted download, and belongs to the bucket in which the download began. Buckets without ads are zero.',
    object,
    permit: permitPodcastAnalytics,
    query: podcastRangeQuery.omit({ window: true, known_at: true }),
    answer: answerOf('AdsAnalytics', z.strictObject({ date: z.string(), ads_delivered: count })),
    refusals: [403],
    run: async ({ caller, access, id, query }, { audience, clock }) => {
      const { workspaceId, plan } = access;
      const range = decideRange(query, plan.historyDays, clock());
      const granularity = wireGranularity[range.granularity];
      const counts = await audience.countAdSeries(
        { workspaceId, podcastId: id, range: wireRange(range), granularity },
        callOptions(caller),
      );
      const objects = counts.buckets.map(({ startMs, delivered }) => ({
        date: bucketDate(startMs, range.granularity),
        ads_delivered: Number(delivered),
      }));
      return { status: 200, body: { meta: renderMeta(range, counts), objects: isEmpty(range) ? [] : objects } };
    },
  });
