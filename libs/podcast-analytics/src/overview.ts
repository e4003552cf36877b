import type { Resource, StateOf } from '@longwave/command-catalog';
import { callOptions } from '@longwave/hosting-client';
import { Dimension } from '@longwave/rpc/audience';
import { z } from 'zod';
import { jointBasis, metaSchema, renderMeta, wireRange } from './analytics-meta.ts';
import { cutToHistory, lastDays } from './analytics-range.ts';
import { findBeginnings } from './beginnings.ts';
import { episodeCount, renderEpisodeCount } from './episode-counts.ts';
import { changeSince, withShares } from './figures.ts';
import { monthAt } from './months.ts';
import type { AnalyticsDeps, Question } from './question.ts';

const count = z.int().min(0);
const days = 30;
const top = 5;

/** Contents of a podcast, and its numbers where the plan has analytics. */
export const overview = z.strictObject({
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
  top_episodes: z.array(episodeCount).optional(),
  top_countries: z.array(z.strictObject({ key: z.string(), downloads: count, share: z.number() })).optional(),
});

type OverviewQuestion = Omit<Question<'podcasts'>, 'query'>;

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
  { caller, access, object }: OverviewQuestion,
  episodes: readonly Resource<'episodes'>[],
  { audience, clock }: AnalyticsDeps,
) {
  const { id } = object;
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

/** Which sections there are depends on the plan's analytics. */
export async function summarisePodcast(
  question: OverviewQuestion,
  deps: AnalyticsDeps,
): Promise<z.output<typeof overview>> {
  const { caller, object, access } = question;
  const input = { links: { podcast: object.id }, workspaceId: access.workspaceId };
  const episodes = await deps.management.list(caller, 'episodes', input);
  return {
    podcast: { id: object.id, title: object.attributes.title, state: object.lifecycle_state },
    episodes: summarise(episodes),
    ...(access.plan.includesAnalytics && (await measure(question, episodes, deps))),
  };
}
