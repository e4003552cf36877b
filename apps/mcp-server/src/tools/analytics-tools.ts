import {
  achievements,
  achievementTypes,
  countAchievements,
  countEpisodeSeries,
  countPodcastByDimension,
  countPodcastEpisodes,
  countPodcastSeries,
  dimensionCounts,
  downloadSeries,
  episodeCounts,
  episodeRangeQuery,
  historyExport,
  metaSchema,
  overview,
  permitEpisodeAnalytics,
  permitPodcastAnalytics,
  permitPublished,
  podcastSeriesQuery,
  startHistoryExport,
  summarisePodcast,
} from '@longwave/podcast-analytics';
import { z } from 'zod';
import { addTool, readTool } from '../tool.ts';
import { episodeId, podcastId, writeArguments } from './fields.ts';
import { linksOf } from './objects.ts';

/** Rows of one answer; the first are the most downloaded. */
const maxRows = 100;

const range = { from: true, to: true, granularity: true, time_zone: true } as const;

const rangeNote =
  'The range is cut to the history that the plan includes: `meta.history_window` says so. Numbers from `meta.provisional_from` on may still grow.';

export const getPodcastAnalytics = readTool({
  name: 'get_podcast_analytics',
  title: 'Count the downloads of a podcast',
  description: `Counts downloads of one podcast. Name the range by \`from\` and \`to\`, or by \`days_offset\`. \`breakdown\`: "total" and "listeners" over time, "episodes", "apps" or "countries" with the most downloaded first. ${rangeNote}`,
  scopes: ['mcp:analytics.read'],
  input: podcastSeriesQuery.pick({ ...range, days_offset: true }).extend({
    podcast_id: podcastId,
    breakdown: z.enum(['total', 'listeners', 'episodes', 'apps', 'countries']).default('total'),
  }),
  output: z.strictObject({
    breakdown: z.string(),
    meta: metaSchema,
    rows: z.array(
      z.union([
        downloadSeries.shape.objects.element,
        z.strictObject({ date: z.string(), listeners: z.int().nullable() }),
        episodeCounts.shape.objects.element,
        dimensionCounts.shape.objects.element,
      ]),
    ),
    omitted_rows: z.int().min(0).describe(`Rows after the first ${maxRows}.`),
  }),
  run: async ({ asker, args: { podcast_id: id, breakdown, ...query } }, deps) => {
    const { resource: object, access } = await deps.management.find(asker, 'podcasts', id);
    permitPodcastAnalytics({ caller: asker, object, access });
    const question = { caller: asker, object, access, query };
    const { time_zone: _zone, ...inUtc } = query;
    const counts = {
      total: () => countPodcastSeries(question, deps),
      listeners: async () => {
        const { meta, objects } = await countPodcastSeries(question, deps);
        return { meta, objects: objects.map(({ date, listeners }) => ({ date, listeners })) };
      },
      episodes: () => countPodcastEpisodes({ ...question, query: inUtc }, deps),
      apps: () => countPodcastByDimension({ ...question, query: { ...inUtc, dimension: 'app' } }, deps),
      countries: () => countPodcastByDimension({ ...question, query: { ...inUtc, dimension: 'country' } }, deps),
    };
    const { meta, objects: rows } = await counts[breakdown]();
    const isSeries = breakdown === 'total' || breakdown === 'listeners';
    const shown = isSeries ? rows : rows.slice(0, maxRows);
    return {
      output: { breakdown, meta, rows: shown, omitted_rows: rows.length - shown.length },
      links: linksOf([object]),
    };
  },
});

export const getEpisodeAnalytics = readTool({
  name: 'get_episode_analytics',
  title: 'Count the downloads of an episode',
  description: `Counts downloads and listeners of one published episode over time. Name the range by \`from\` and \`to\`, or by \`days_since_published\`. ${rangeNote}`,
  scopes: ['mcp:analytics.read'],
  input: episodeRangeQuery.pick({ ...range, days_since_published: true }).extend({ episode_id: episodeId }),
  output: z.strictObject({ meta: metaSchema, rows: downloadSeries.shape.objects }),
  run: async ({ asker, args: { episode_id: id, ...query } }, deps) => {
    const { resource: object, access } = await deps.management.find(asker, 'episodes', id);
    await permitEpisodeAnalytics({ caller: asker, object, access }, deps);
    const { meta, objects: rows } = await countEpisodeSeries({ caller: asker, object, access, query }, deps);
    return { output: { meta, rows }, links: linksOf([object]) };
  },
});

export const getPodcastOverview = readTool({
  name: 'get_podcast_overview',
  title: 'Sum up a podcast',
  description:
    'Sums up a published podcast: its episodes, its numbers of the last 30 days when the plan includes analytics, and the milestones that it has reached.',
  scopes: ['mcp:analytics.read'],
  input: z.strictObject({ podcast_id: podcastId }),
  output: overview.extend({ achievements: z.array(achievements) }),
  run: async ({ asker, args: { podcast_id: id } }, deps) => {
    const { resource: object, access } = await deps.management.find(asker, 'podcasts', id);
    permitPublished({ caller: asker, object, access });
    const question = { caller: asker, object, access };
    const [summary, ...reached] = await Promise.all([
      summarisePodcast(question, deps),
      ...achievementTypes.map((type) => countAchievements(question, type, deps)),
    ]);
    return { output: { ...summary, achievements: reached }, links: linksOf([object]) };
  },
});

export const requestHistoryExport = addTool({
  name: 'request_history_export',
  title: 'Prepare the download history',
  description:
    'Prepares the whole download history of a podcast as CSV, as far back as the plan includes; one at a time. Ask get_operation until it has succeeded; the file is then at the REST API and on the pages of the podcast.',
  scopes: ['mcp:analytics.read'],
  input: z.strictObject({ podcast_id: podcastId, ...writeArguments }),
  output: z.strictObject({ operation_id: z.string(), export: historyExport }),
  run: async ({ asker, args: { podcast_id: id, idempotency_key: idempotencyKey } }, deps) => {
    const { resource: object, access } = await deps.management.find(asker, 'podcasts', id);
    permitPodcastAnalytics({ caller: asker, object, access });
    const { body, operationId } = await startHistoryExport({ caller: asker, object, access, idempotencyKey }, deps);
    return { output: { operation_id: operationId, export: body }, links: linksOf([object]) };
  },
});
