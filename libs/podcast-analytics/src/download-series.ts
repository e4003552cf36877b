import { callOptions } from '@longwave/hosting-client';
import { z } from 'zod';
import {
  bucketDate,
  isEmpty,
  metaSchema,
  renderMeta,
  wireGranularity,
  wireRange,
  type Basis,
} from './analytics-meta.ts';
import {
  decideRange,
  type AnalyticsRange,
  type EpisodeRangeQuery,
  type PodcastSeriesQuery,
} from './analytics-range.ts';
import { wireBasis, type CountingBasis } from './counting-basis.ts';
import { rangeOfEpisode } from './episode-range.ts';
import type { AnalyticsDeps, Question } from './question.ts';

const count = z.int().min(0);

/** Downloads and listeners over time. */
export const downloadSeries = z.strictObject({
  meta: metaSchema,
  objects: z.array(
    z.strictObject({
      date: z.string(),
      downloads: count,
      listeners: count.nullable().describe('Null with `known_at`: the record of changes does not contain listeners.'),
    }),
  ),
});
type DownloadSeries = z.output<typeof downloadSeries>;

/** One object per bucket; none when the range was cut to nothing. */
function renderBuckets(
  range: AnalyticsRange,
  counts: Basis & { readonly buckets: readonly { startMs: bigint; downloads: bigint; listeners: bigint }[] },
  basis: CountingBasis,
): DownloadSeries {
  const objects = counts.buckets.map(({ startMs, downloads, listeners }) => ({
    date: bucketDate(startMs, range.granularity),
    downloads: Number(downloads),
    listeners: basis.known_at === undefined ? Number(listeners) : null,
  }));
  return { meta: renderMeta(range, counts, basis), objects: isEmpty(range) ? [] : objects };
}

/** A podcast over time; buckets without data are zero. */
export async function countPodcastSeries(
  { caller, object, access, query }: Question<'podcasts', PodcastSeriesQuery>,
  { audience, clock }: AnalyticsDeps,
): Promise<DownloadSeries> {
  const { workspaceId, plan } = access;
  const range = decideRange(query, plan.historyDays, clock());
  const scope = {
    workspaceId,
    podcastId: object.id,
    episodeId: '',
    range: wireRange(range),
    timeZone: query.time_zone,
  };
  const granularity = wireGranularity[range.granularity];
  const counts = await audience.countDownloads({ ...scope, granularity, ...wireBasis(query) }, callOptions(caller));
  return renderBuckets(range, counts, query);
}

/** One published episode over time. */
export async function countEpisodeSeries(
  question: Question<'episodes', EpisodeRangeQuery>,
  { audience, clock }: AnalyticsDeps,
): Promise<DownloadSeries> {
  const { caller, object, access, query } = question;
  const range = rangeOfEpisode(question, clock());
  const counts = await audience.countDownloads(
    {
      ...{ workspaceId: access.workspaceId, podcastId: access.podcastId!, episodeId: object.id },
      range: wireRange(range),
      granularity: wireGranularity[range.granularity],
      timeZone: query.time_zone,
      ...wireBasis(query),
    },
    callOptions(caller),
  );
  return renderBuckets(range, counts, query);
}
