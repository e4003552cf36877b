import {
  bucketDate,
  countEpisodeByDimension,
  countEpisodeSeries,
  countPodcastByDimension,
  countPodcastEpisodes,
  countPodcastSeries,
  decideRange,
  dimensionCounts,
  dimensionName,
  downloadSeries,
  episodeCounts,
  episodeRangeQuery,
  isEmpty,
  metaSchema,
  permitEpisodeAnalytics,
  permitPodcastAnalytics,
  podcastEpisodesQuery,
  podcastRangeQuery,
  podcastSeriesQuery,
  renderMeta,
  wireGranularity,
  wireRange,
} from '@longwave/podcast-analytics';
import { callOptions } from '@longwave/hosting-client';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

const object = { type: 'podcasts', from: 'path', field: 'id' } as const;

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
    answer: { name: 'PodcastAnalytics', schema: downloadSeries },
    refusals: [403],
    run: async (call, deps) => ({ status: 200, body: await countPodcastSeries(call, deps) }),
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
    answer: { name: 'EpisodeAnalytics', schema: downloadSeries },
    refusals: [403],
    run: async (call, deps) => ({ status: 200, body: await countEpisodeSeries(call, deps) }),
  });

/** GET /podcasts/{id}/analytics/episodes. */
export const podcastEpisodesAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastEpisodesAnalytics',
    summary:
      'Downloads per episode in the range, or in its own first days, most downloaded first; published episodes without downloads are listed with zero.',
    object,
    permit: permitPodcastAnalytics,
    query: podcastEpisodesQuery,
    answer: { name: 'EpisodesAnalytics', schema: episodeCounts },
    refusals: [403],
    run: async (call, deps) => ({ status: 200, body: await countPodcastEpisodes(call, deps) }),
  });

const dimensionQuery = { dimension: dimensionName.default('country') };

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
    answer: { name: 'ListenersAnalytics', schema: dimensionCounts },
    refusals: [403],
    run: async (call, deps) => ({ status: 200, body: await countPodcastByDimension(call, deps) }),
  });

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
    answer: { name: 'EpisodeListenersAnalytics', schema: dimensionCounts },
    refusals: [403],
    run: async (call, deps) => ({ status: 200, body: await countEpisodeByDimension(call, deps) }),
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
    answer: {
      name: 'AdsAnalytics',
      schema: z.strictObject({
        meta: metaSchema,
        objects: z.array(z.strictObject({ date: z.string(), ads_delivered: z.int().min(0) })),
      }),
    },
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
