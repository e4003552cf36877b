import { callOptions, type Asker } from '@longwave/hosting-client';
import { isProblem } from '@longwave/problems';
import { Dimension } from '@longwave/rpc/audience';
import pMap from 'p-map';
import { z } from 'zod';
import { listMeasuredPodcasts, type MeasuredPodcast } from './analytics-gate.ts';
import { jointBasis, metaSchema, renderMeta, type Basis } from './analytics-meta.ts';
import { historyStartMs, type AnalyticsRange } from './analytics-range.ts';
import { findBeginnings } from './beginnings.ts';
import { episodeCount, renderEpisodeCount } from './episode-counts.ts';
import { withShares } from './figures.ts';
import { monthAt, type Month } from './months.ts';
import { countPodcasts, type PodcastTotals } from './podcast-totals.ts';
import type { AnalyticsDeps } from './question.ts';
import { monthlyChange, reportMonths } from './report-months.ts';

const count = z.int().min(0);
const top = 5;
/** Calls of other services that one request has open at the same time. */
const maxConcurrent = 8;

const archived = z.strictObject({
  /** "2026-10". */
  month: z.string(),
  podcast_id: z.string(),
  title: z.string(),
  downloads: count,
  listeners: count,
  /** Of the downloads since the month before, 0.25 for a quarter more; null where there is nothing to compare with. */
  change: z.number().nullable(),
});
const report = archived.extend({
  top_episodes: z.array(episodeCount),
  top_countries: z.array(z.strictObject({ key: z.string(), downloads: count, share: z.number() })),
});

/** Months of podcasts, with the most downloaded episodes and countries of each. */
export const monthlyReports = z.strictObject({ meta: metaSchema, objects: z.array(report) });

/** Months of podcasts, with their totals. */
export const archivedReports = z.strictObject({ meta: metaSchema, objects: z.array(archived) });

const wireMonth = ({ fromMs, toMs }: Month) => ({ fromMs: BigInt(fromMs), toMs: BigInt(toMs) });

/** One month of one podcast, with its totals. */
interface Line extends MeasuredPodcast {
  readonly month: Month;
  readonly row: z.output<typeof archived>;
}

/** Every report of a kind, the newest month first and in it the most downloads, and what the answer's `meta` says of them. */
async function countReports(kind: 'recent' | 'archived', caller: Asker, deps: AnalyticsDeps) {
  const now = deps.clock();
  const measured = await listMeasuredPodcasts(caller, deps);
  const beginnings = await findBeginnings(caller, measured, deps);
  const planned = measured.map((one) => {
    const historyFromMs = historyStartMs(one.access.plan.historyDays, now);
    const begunAt = new Date(beginnings.get(one.podcast.id)!);
    return { ...one, historyFromMs, ...reportMonths(kind, begunAt, historyFromMs, now) };
  });
  // Includes the month before each, to compare with.
  const requested = new Map<string, { readonly month: Month; readonly podcasts: Map<string, MeasuredPodcast> }>();
  for (const one of planned)
    for (const month of one.months.flatMap((own) => [own, monthAt(new Date(own.fromMs), -1)])) {
      const entry = requested.get(month.name) ?? { month, podcasts: new Map<string, MeasuredPodcast>() };
      if (month.fromMs >= one.historyFromMs) requested.set(month.name, entry);
      entry.podcasts.set(one.podcast.id, one);
    }
  const totals = new Map<string, PodcastTotals>(
    await pMap(
      requested.values(),
      async ({ month, podcasts }) =>
        [month.name, await countPodcasts(caller, [...podcasts.values()], wireMonth(month), deps)] as const,
      { concurrency: maxConcurrent },
    ),
  );
  const bases = [...totals.values()].map(({ basis }) => basis);
  const basis: Basis =
    bases.length > 0
      ? jointBasis(bases[0]!, ...bases.slice(1))
      : (await countPodcasts(caller, [], wireMonth(monthAt(now)), deps)).basis;
  const lines = planned.flatMap(({ months, historyFromMs, podcast, access }) =>
    months.map((month): Line => {
      const of = (name: string) => totals.get(name)?.of.get(podcast.id);
      const { downloads = 0, listeners = 0 } = of(month.name) ?? {};
      const change = monthlyChange((name) => of(name)?.downloads, month, historyFromMs);
      const { title } = podcast.attributes;
      return {
        podcast,
        access,
        month,
        row: { month: month.name, podcast_id: podcast.id, title, downloads, listeners, change },
      };
    }),
  );
  lines.sort((a, b) => b.month.fromMs - a.month.fromMs || b.row.downloads - a.row.downloads);

  const to = monthAt(now).fromMs;
  const from = Math.min(to, ...lines.map(({ month }) => month.fromMs));
  const cut = planned
    .filter(({ cutFrom }) => cutFrom !== undefined)
    .sort((a, b) => a.access.plan.historyDays! - b.access.plan.historyDays!)[0];
  const range: AnalyticsRange = {
    from: new Date(from),
    to: new Date(Math.max(from, ...lines.map(({ month }) => month.toMs))),
    granularity: 'month',
    ...(cut && {
      historyWindow: {
        from: new Date(cut.historyFromMs).toISOString(),
        requested_from: new Date(cut.cutFrom!.fromMs).toISOString(),
        days: cut.access.plan.historyDays!,
      },
    }),
  };
  return { lines, meta: renderMeta(range, basis) };
}

/** The most downloaded episodes and countries of the month. */
async function rank({ podcast, access, month, row }: Line, caller: Asker, { audience, management }: AnalyticsDeps) {
  if (row.downloads === 0) return { ...row, top_episodes: [], top_countries: [] };
  const scope = { workspaceId: access.workspaceId, podcastId: podcast.id, range: wireMonth(month) };
  const [byEpisode, byCountry] = await Promise.all([
    audience.countByEpisode(scope, callOptions(caller)),
    audience.countByDimension({ ...scope, episodeId: '', dimension: Dimension.COUNTRY }, callOptions(caller)),
  ]);
  const countries = byCountry.counts.map(({ key, downloads }) => ({ key, downloads: Number(downloads) }));
  const episodes = byEpisode.episodes.slice(0, top).map(async ({ episodeId, downloads }) => {
    const found = await management
      .find(caller, 'episodes', episodeId, { includeHidden: true })
      .catch((error: unknown) => {
        // Management may no longer know an episode that has downloads.
        if (isProblem(error, 'not_found')) return undefined;
        throw error;
      });
    return renderEpisodeCount(episodeId, found?.resource, Number(downloads));
  });
  return {
    ...row,
    top_episodes: await Promise.all(episodes),
    top_countries: withShares(countries).slice(0, top),
  };
}

/** The latest three finished months of every podcast that the caller may measure. */
export async function listRecentReports(caller: Asker, deps: AnalyticsDeps): Promise<z.output<typeof monthlyReports>> {
  const { lines, meta } = await countReports('recent', caller, deps);
  return { meta, objects: await pMap(lines, (line) => rank(line, caller, deps), { concurrency: maxConcurrent }) };
}

/** Every older month, as far as the plan's history reaches. */
export async function listArchivedReports(
  caller: Asker,
  deps: AnalyticsDeps,
): Promise<z.output<typeof archivedReports>> {
  const { lines, meta } = await countReports('archived', caller, deps);
  return { meta, objects: lines.map(({ row }) => row) };
}
