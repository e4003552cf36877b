import { methodologyVersion } from '@longwave/audience';
import type { Pool } from '@longwave/postgres';
import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcService } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { bucketUnit } from './buckets.ts';
import { countAds, countByDimension, countByEpisode, countEpisodeDays, countTotals } from './count-queries.ts';
import {
  adsRequest,
  dimensionRequest,
  downloadsRequest,
  episodesRequest,
  exportRequest,
  totalsRequest,
} from './count-requests.ts';
import { countSeries } from './count-series.ts';
import { completeUntilMs } from './fact-table.ts';

/** Podcasts whose numbers a call asks for; none when it asks for the whole workspace. */
export type CheckAccess = (
  context: RpcContext,
  workspaceId: string,
  podcastIds: readonly (string | undefined)[],
) => Promise<void>;

const callers = ['rest-gateway', 'operator'] as const;
const exporters = [...callers, 'management'] as const;

/** The read side: every query is bound to one workspace, and to what `checkAccess` lets the caller see there. */
export function audienceService(pool: Pool, checkAccess: CheckAccess): RpcService {
  /** Read before the counts: what comes meanwhile is counted, but not promised. */
  const basis = async () => ({ methodologyVersion, completeUntilMs: BigInt(await completeUntilMs(pool)) });
  return rpcService(
    AudienceServiceService,
    {
      countDownloads: callers,
      countByEpisode: callers,
      countByDimension: callers,
      countTotals: exporters,
      exportDays: exporters,
      countAds: exporters,
    },
    {
      countDownloads: async (request, context) => {
        const { range, granularity, timeZone, ...scope } = parseOrProblem(downloadsRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const unit = bucketUnit(granularity);
        if (unit === undefined) throw new Problem('validation_failed', 'Name a granularity: hour, day, week or month.');
        const at = await basis();
        const counts = await countSeries(pool, scope, range, unit, timeZone);
        return { buckets: counts.map((count) => ({ ...count, startMs: BigInt(count.startMs) })), ...at };
      },
      countByEpisode: async (request, context) => {
        const { range, ...scope } = parseOrProblem(episodesRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const at = await basis();
        return { episodes: await countByEpisode(pool, scope, range), ...at };
      },
      countByDimension: async (request, context) => {
        const { range, dimension, ...scope } = parseOrProblem(dimensionRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const at = await basis();
        return { counts: await countByDimension(pool, scope, range, dimension), ...at };
      },
      countTotals: async (request, context) => {
        const { workspaceId, podcastIds, range } = parseOrProblem(totalsRequest, request);
        await checkAccess(context, workspaceId, podcastIds);
        const at = await basis();
        return { podcasts: await countTotals(pool, workspaceId, podcastIds, range), ...at };
      },
      exportDays: async (request, context) => {
        const { range, ...scope } = parseOrProblem(exportRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        return { days: await countEpisodeDays(pool, scope, range) };
      },
      countAds: async (request, context) => {
        const { workspaceId, range, scope } = parseOrProblem(adsRequest, request);
        await checkAccess(context, workspaceId, [scope.$case === 'podcastId' ? scope.value : undefined]);
        return { delivered: await countAds(pool, workspaceId, { kind: scope.$case, id: scope.value }, range) };
      },
    },
  );
}
