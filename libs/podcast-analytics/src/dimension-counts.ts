import { callOptions, type Asker } from '@longwave/hosting-client';
import { Dimension } from '@longwave/rpc/audience';
import { z } from 'zod';
import { isEmpty, metaSchema, renderMeta, wireRange } from './analytics-meta.ts';
import { decideRange, type AnalyticsRange, type EpisodeRangeQuery, type PodcastRangeQuery } from './analytics-range.ts';
import { wireBasis, type CountingBasis } from './counting-basis.ts';
import { rangeOfEpisode } from './episode-range.ts';
import { withShares } from './figures.ts';
import type { AnalyticsDeps, Question } from './question.ts';

const dimensions = {
  country: Dimension.COUNTRY,
  region: Dimension.REGION,
  app: Dimension.APP,
  device: Dimension.DEVICE,
  platform: Dimension.PLATFORM,
  operating_system: Dimension.OPERATING_SYSTEM,
} as const;
type DimensionName = keyof typeof dimensions;

/** What listeners are counted by. */
export const dimensionName = z.enum(Object.keys(dimensions) as DimensionName[]);

/** Downloads by one dimension. */
export const dimensionCounts = z.strictObject({
  meta: metaSchema,
  objects: z.array(
    z.strictObject({
      key: z.string(),
      dimension: dimensionName,
      downloads: z.int().min(0),
      share: z.number().min(0).max(1),
    }),
  ),
});
type DimensionCounts = z.output<typeof dimensionCounts>;

interface Scope {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
}

/** Downloads of a podcast, or of one of its episodes, by a dimension; none when the range was cut to nothing. */
async function countByDimension(
  { caller, query }: { readonly caller: Asker; readonly query: CountingBasis & { readonly dimension: DimensionName } },
  scope: Scope,
  range: AnalyticsRange,
  { audience }: AnalyticsDeps,
): Promise<DimensionCounts> {
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
  return { meta: renderMeta(range, answer, query), objects: withShares(counts) };
}

/** Downloads of a podcast by one dimension. */
export function countPodcastByDimension(
  question: Question<'podcasts', PodcastRangeQuery & { readonly dimension: DimensionName }>,
  deps: AnalyticsDeps,
): Promise<DimensionCounts> {
  const { object, access, query } = question;
  const range = decideRange(query, access.plan.historyDays, deps.clock());
  const scope = { workspaceId: access.workspaceId, podcastId: object.id, episodeId: '' };
  return countByDimension(question, scope, range, deps);
}

/** Downloads of one published episode by one dimension. */
export function countEpisodeByDimension(
  question: Question<'episodes', EpisodeRangeQuery & { readonly dimension: DimensionName }>,
  deps: AnalyticsDeps,
): Promise<DimensionCounts> {
  const { object, access } = question;
  const scope = { workspaceId: access.workspaceId, podcastId: access.podcastId!, episodeId: object.id };
  return countByDimension(question, scope, rangeOfEpisode(question, deps.clock()), deps);
}
