import { methodologyVersion } from '@longwave/audience';
import type { Pool } from '@longwave/postgres';
import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { z } from 'zod';
import { bucketStarts, bucketUnit } from './buckets.ts';
import { countAds, countByEpisode, countDownloads, type HourRange } from './count-queries.ts';
import { completeUntilMs } from './fact-table.ts';

const hourMs = 3_600_000;
const mostBuckets = 20_000;
const lastMs = BigInt(Date.UTC(2200, 0));

const id = z.string().min(1);
const range = z
  .strictObject({ fromMs: z.bigint().min(0n).max(lastMs), toMs: z.bigint().min(0n).max(lastMs) })
  .refine(({ fromMs, toMs }) => fromMs < toMs, 'from must come before to')
  // Counts are kept by the hour: the range grows to whole UTC hours.
  .transform(({ fromMs, toMs }): HourRange => ({
    from: new Date(Math.floor(Number(fromMs) / hourMs) * hourMs),
    to: new Date(Math.ceil(Number(toMs) / hourMs) * hourMs),
  }));
const downloadsRequest = z.strictObject({
  workspaceId: id,
  podcastId: id,
  episodeId: z.string(),
  range,
  granularity: z.string(),
});
const episodesRequest = z.strictObject({ workspaceId: id, podcastId: id, range });
const adsRequest = z.strictObject({
  workspaceId: id,
  range,
  scope: z.strictObject({ $case: z.enum(['podcastId', 'campaignId', 'lineItemId']), value: id }),
});

const callers = ['rest-gateway', 'operator'] as const;

/** The read side: every query is bound to one workspace. */
export function audienceService(pool: Pool): RpcService {
  return rpcService(
    AudienceServiceService,
    { countDownloads: callers, countByEpisode: callers, countAds: callers },
    {
      countDownloads: async (request) => {
        const { workspaceId, podcastId, episodeId, range } = parseOrProblem(downloadsRequest, request);
        const unit = bucketUnit(request.granularity);
        if (unit === undefined) throw new Problem('validation_failed', 'Name a granularity: hour, day, week or month.');
        const starts = bucketStarts(range.from.getTime(), range.to.getTime(), unit, mostBuckets);
        if (starts === undefined)
          throw new Problem(
            'validation_failed',
            `The range has more than ${mostBuckets} buckets; use a coarser granularity.`,
          );
        const complete = await completeUntilMs(pool);
        const counts = await countDownloads(
          pool,
          { workspaceId, podcastId, episodeId: episodeId || undefined },
          range,
          unit,
        );
        const byStart = new Map(counts.map((count) => [count.startMs, count]));
        return {
          buckets: starts.map((startMs) => ({
            startMs: BigInt(startMs),
            downloads: byStart.get(startMs)?.downloads ?? 0n,
            listeners: byStart.get(startMs)?.listeners ?? 0n,
          })),
          methodologyVersion,
          completeUntilMs: BigInt(complete),
        };
      },
      countByEpisode: async (request) => {
        const { range, ...scope } = parseOrProblem(episodesRequest, request);
        const complete = await completeUntilMs(pool);
        const episodes = await countByEpisode(pool, scope, range);
        return { episodes, methodologyVersion, completeUntilMs: BigInt(complete) };
      },
      countAds: async (request) => {
        const { workspaceId, range, scope } = parseOrProblem(adsRequest, request);
        return { delivered: await countAds(pool, workspaceId, { kind: scope.$case, id: scope.value }, range) };
      },
    },
  );
}
