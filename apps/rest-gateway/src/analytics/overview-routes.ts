import type { Resource, StateOf } from '@longwave/command-catalog';
import { Dimension } from '@longwave/rpc/audience';
import { z } from 'zod';
import { callOptions } from '../management/asker.ts';
import { defineRoute, type Deps, type ObjectCall } from '../route.ts';
import { jointBasis, metaSchema, renderMeta, wireRange } from './analytics-answer.ts';
import { findBeginnings } from './beginnings.ts';
import { permitPublished } from './analytics-gate.ts';
import { cutToHistory, lastDays } from './analytics-range.ts';
import { renderEpisodeCount } from './analytics-routes.ts';
import { changeSince, withShares } from './figures.ts';
import { monthAt } from './months.ts';

const count = z.int().min(0);
const days = 30;
const top = 5;

const overview = z.strictObject({
  podcast: z.strictObject({ id: z.string(), title: z.string(), state: z.string() }),
  episodes: z.strictObject({
    published: count,
    scheduled: count,
    drafts: count,
    /** Content of the published ones, without intro, outro and ads. */
    duration_ms: count,
    latest: z.strictObject({ episode_id: z.string(), title: z.string(), published_at: z.string() }).nullable(),
  }),
  // From here on only where the plan has analytics: the last 30 days with today, but for the listeners.
  meta: metaSchema.optional(),
  downloads: z
    .strictObject({
      last_7_days: count,
      last_30_days: count,
      /** Since the 30 days before; null where there is nothing to compare with, as for a podcast that had fewer days than these. */
      change: z.number().nullable(),
    })
    .optional(),
  /** Of the UTC month so far, because listener keys change with it (docs/counting.md#definitions). */
  listeners: z.strictObject({ this_month: count }).optional(),
  top_episodes: z
    .array(
      z.strictObject({
        episode_id: z.string(),
        title: z.string().nullable(),
        published_at: z.string().nullable(),
        downloads: count,
      }),
    )
    .optional(),
  top_countries: z.array(z.strictObject({ key: z.string(), downloads: count, share: z.number() })).optional(),
});

/** The episodes of a podcast by state, without archived ones. */
function summarise(episodes: readonly Resource<'episodes'>[]): z.output<typeof overview>['episodes'] {
  const inState = (state: StateOf<'episodes'>) => episodes.filter((episode) => episode.lifecycle_state === state);
  const published = inState('published');
  // A published episode has a date.
  const dateOf = ({ attributes }: Resource<'episodes'>) => attributes.published_at!;
  const newest = published.toSorted((a, b) => (dateOf(a) < dateOf(b) ? 1 : -1))[0];
  const durations = published.map(({ attributes }) => attributes.duration_ms ?? 0);
  return {
    published: published.length,
    scheduled: inState('scheduled').length,
    drafts: inState('draft').length,
    duration_ms: durations.reduce((sum, duration) => sum + duration, 0),
    latest: newest ? { episode_id: newest.id, title: newest.attributes.title, published_at: dateOf(newest) } : null,
  };
}

/** The sections with numbers. */
async function measure(
  { caller, id, access, object }: ObjectCall<unknown, unknown, 'podcasts'>,
  episodes: readonly Resource<'episodes'>[],
  { audience, clock }: Deps,
) {
  const { workspaceId, plan } = access;
  const now = clock();
  const cut = (span: ReturnType<typeof lastDays>) => cutToHistory(span, 'day', plan.historyDays, now);
  const latest = lastDays(days, now);
  const range = cut(latest);
  const previous = { fromMs: 2 * latest.fromMs - latest.toMs, toMs: latest.fromMs };
  const before = cut(previous);
  const scope = { workspaceId, podcastId: id, range: wireRange(range) };
  const totals = (of: typeof range) =>
    audience.countTotals({ workspaceId, podcastIds: [id], range: wireRange(of) }, callOptions(caller));
  const [beginnings, current, week, earlier, thisMonth, byEpisode, byCountry] = await Promise.all([
    findBeginnings(caller, [{ podcast: object, access }], { audience }),
    totals(range),
    totals(cut(lastDays(7, now))),
    totals(before),
    totals(cut({ fromMs: monthAt(now).fromMs, toMs: latest.toMs })),
    audience.countByEpisode(scope, callOptions(caller)),
    audience.countByDimension({ ...scope, episodeId: '', dimension: Dimension.COUNTRY }, callOptions(caller)),
  ]);
  // Neither days that the plan's history cuts nor days before the numbers begin are a measure.
  const isComparable = !before.historyWindow && beginnings.get(id)! <= previous.fromMs;
  const downloadsOf = ({ podcasts }: typeof current) => Number(podcasts[0]?.downloads ?? 0n);
  const countries = byCountry.counts.map(({ key, downloads }) => ({ key, downloads: Number(downloads) }));
  const known = new Map(episodes.map((episode) => [episode.id, episode]));
  return {
    meta: renderMeta(range, jointBasis(current, week, earlier, thisMonth, byEpisode, byCountry)),
    downloads: {
      last_7_days: downloadsOf(week),
      last_30_days: downloadsOf(current),
      change: changeSince(isComparable ? downloadsOf(earlier) : undefined, downloadsOf(current)),
    },
    listeners: { this_month: Number(thisMonth.podcasts[0]?.listeners ?? 0n) },
    top_episodes: byEpisode.episodes
      .slice(0, top)
      .map((one) => renderEpisodeCount(one.episodeId, known.get(one.episodeId), Number(one.downloads))),
    top_countries: withShares(countries).slice(0, top),
  };
}

/**
 * GET /podcasts/{id}/overview. Which sections there are depends on the plan's analytics; a podcast must be
 * published and the caller must have the right to see its analytics, as for all of them.
 */
export const podcastOverview = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastOverview',
    summary: 'Contents of a podcast and, if the plan includes analytics, its numbers of the last 30 days.',
    object: { type: 'podcasts', from: 'path', field: 'id' },
    permit: permitPublished,
    answer: { name: 'Overview', schema: overview },
    refusals: [403],
    run: async (call, deps) => {
      const { caller, object, id, access } = call;
      const input = { links: { podcast: id }, workspaceId: access.workspaceId };
      const episodes = await deps.management.list(caller, 'episodes', input);
      return {
        status: 200,
        body: {
          podcast: { id, title: object.attributes.title, state: object.lifecycle_state },
          episodes: summarise(episodes),
          ...(access.plan.includesAnalytics && (await measure(call, episodes, deps))),
        },
      };
    },
  });
