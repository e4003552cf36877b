import { callOptions } from '@longwave/hosting-client';
import {
  countPodcasts,
  cutToHistory,
  isEmpty,
  lastDays,
  listMeasuredPodcasts,
  metaSchema,
  monthAt,
  permitPodcastAnalytics,
  renderMeta,
  shortestHistory,
  wireRange,
  withShares,
} from '@longwave/podcast-analytics';
import { Granularity } from '@longwave/rpc/audience';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

const count = z.int().min(0);
const object = { type: 'podcasts', from: 'path', field: 'id' } as const;
const months = 12;
const days = 30;

/** GET /podcasts/{id}/insights/listeners_over_time: by UTC month, because listener keys change with it (docs/counting.md#definitions). */
export const listenersOverTime = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'listenersOverTime',
    summary: 'Distinct listeners of a podcast in each of the last twelve months, including the current one.',
    object,
    permit: permitPodcastAnalytics,
    answer: {
      name: 'ListenersOverTime',
      schema: z.strictObject({
        meta: metaSchema,
        objects: z.array(z.strictObject({ date: z.iso.date(), listeners: count })),
      }),
    },
    refusals: [403],
    run: async ({ caller, access, id }, { audience, clock }) => {
      const { workspaceId, plan } = access;
      const now = clock();
      const span = { fromMs: monthAt(now, 1 - months).fromMs, toMs: lastDays(1, now).toMs };
      const range = cutToHistory(span, 'month', plan.historyDays, now);
      const counts = await audience.countDownloads(
        { workspaceId, podcastId: id, episodeId: '', range: wireRange(range), granularity: Granularity.MONTH },
        callOptions(caller),
      );
      const objects = counts.buckets.map(({ startMs, listeners }) => ({
        date: new Date(Number(startMs)).toISOString().slice(0, 10),
        listeners: Number(listeners),
      }));
      return { status: 200, body: { meta: renderMeta(range, counts), objects: isEmpty(range) ? [] : objects } };
    },
  });

/** A podcast without a category. */
const uncategorised = 'uncategorised';

/**
 * GET /podcasts/{id}/insights/podcasts_categories: only podcasts whose analytics the caller may see. A podcast counts in its first
 * category, so that shares add up.
 */
export const podcastsCategories = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastsCategories',
    summary: 'Downloads of the last 30 days by podcast category, for the podcasts whose analytics the caller may see.',
    object,
    permit: permitPodcastAnalytics,
    answer: {
      name: 'CategoryInsights',
      schema: z.strictObject({
        meta: metaSchema,
        objects: z.array(
          z.strictObject({
            category: z.string(),
            podcasts: count,
            downloads: count,
            share: z.number().min(0).max(1),
            /** Whether the podcast of the path is one of them. */
            own: z.boolean(),
          }),
        ),
      }),
    },
    refusals: [403],
    run: async ({ caller, id }, deps) => {
      const measured = await listMeasuredPodcasts(caller, deps);
      const now = deps.clock();
      const range = cutToHistory(lastDays(days, now), 'day', shortestHistory(measured), now);
      const totals = await countPodcasts(caller, measured, wireRange(range), deps);
      const byCategory = Map.groupBy(measured, ({ podcast }) => podcast.attributes.categories?.[0] ?? uncategorised);
      const counts = [...byCategory].map(([category, members]) => ({
        category,
        podcasts: members.length,
        downloads: isEmpty(range)
          ? 0
          : members.reduce((sum, { podcast }) => sum + (totals.of.get(podcast.id)?.downloads ?? 0), 0),
        own: members.some(({ podcast }) => podcast.id === id),
      }));
      const objects = withShares(counts).sort(
        (a, b) => b.downloads - a.downloads || (a.category < b.category ? -1 : 1),
      );
      return { status: 200, body: { meta: renderMeta(range, totals.basis), objects } };
    },
  });
