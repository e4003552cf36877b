import { methodologyVersion } from '@longwave/audience';
import { completeUntilMs } from '@longwave/audience-store';
import type { Pool } from '@longwave/postgres';
import { campaignRoles } from '@longwave/principal';
import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { AudienceServiceService, type Granularity } from '@longwave/rpc/audience';
import { gateways } from '@longwave/services';
import { countAds, countAdSeries, countCampaigns, countClientEvents, type AdScope } from '../queries/ad-queries.ts';
import { bucketUnit, type BucketUnit } from '../queries/buckets.ts';
import {
  countByDimension,
  countByEpisode,
  countEpisodeDays,
  countEpisodes,
  countTotals,
  countWindows,
  defaultBasis,
  findFirstDownloads,
  type HourRange,
} from '../queries/count-queries.ts';
import {
  adSeriesRequest,
  adsRequest,
  campaignsRequest,
  dimensionRequest,
  downloadsRequest,
  episodeRangesRequest,
  episodesRequest,
  exportRequest,
  firstDownloadsRequest,
  totalsRequest,
  wireWindow,
} from '../queries/count-requests.ts';
import { countSeries } from '../queries/count-series.ts';
import { readReport } from '../queries/read-report.ts';
import { reportRequest } from '../queries/report-request.ts';
import { findRestatedAds, findRestatedCampaigns, findRestatedDownloads } from '../queries/restated-ranges.ts';
import type { CheckAccess } from './access.ts';

/** The unit of a granularity. Throws `validation_failed` when none was named. */
function requireUnit(granularity: Granularity): BucketUnit {
  const unit = bucketUnit(granularity);
  if (unit === undefined) throw new Problem('validation_failed', '“granularity” must be hour, day, week or month.');
  return unit;
}

/** From the earliest beginning to the latest end; undefined without ranges. */
function rangeOf(ranges: readonly HourRange[]): HourRange | undefined {
  if (ranges.length === 0) return undefined;
  const from = Math.min(...ranges.map((range) => range.from.getTime()));
  const to = Math.max(...ranges.map((range) => range.to.getTime()));
  return { from: new Date(from), to: new Date(to) };
}

const callers = [...gateways, 'operator'] as const;
const exporters = [...callers, 'management'] as const;

/** Queries of numbers. Each is bound to one workspace, and `checkAccess` decides whether the caller may see it. */
export function audienceService(pool: Pool, checkAccess: CheckAccess): RpcService {
  /** Read before the counts: facts that arrive meanwhile are counted, but `completeUntilMs` does not cover them. */
  const basisOf = async (window: Parameters<typeof wireWindow>[0] = 'calendar_utc') => ({
    methodologyVersion,
    completeUntilMs: BigInt(await completeUntilMs(pool)),
    window: wireWindow(window),
  });
  return rpcService(
    AudienceServiceService,
    {
      countDownloads: callers,
      countByEpisode: callers,
      countEpisodeRanges: callers,
      countEpisodes: callers,
      countByDimension: callers,
      countTotals: exporters,
      findFirstDownloads: exporters,
      exportDays: exporters,
      countAds: exporters,
      countAdSeries: callers,
      countCampaigns: callers,
      // Reports hold their connection for long; management asks for few at a time.
      readReport: ['management'],
    },
    {
      countDownloads: async (request, context) => {
        const { range, granularity, timeZone, basis, ...scope } = parseOrProblem(downloadsRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const unit = requireUnit(granularity);
        const at = await basisOf(basis.window);
        const counts = await countSeries(pool, scope, range, unit, timeZone, basis);
        const buckets = counts.map((count) => ({ ...count, startMs: BigInt(count.startMs) }));
        const restated = await findRestatedDownloads(pool, { ...scope, podcastIds: [scope.podcastId] }, range, basis);
        return { buckets, ...at, restated, ...(basis.knownAt && { knownAtMs: BigInt(basis.knownAt.getTime()) }) };
      },
      countByEpisode: async (request, context) => {
        const { range, basis, ...scope } = parseOrProblem(episodesRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const at = await basisOf(basis.window);
        const restated = await findRestatedDownloads(pool, { ...scope, podcastIds: [scope.podcastId] }, range, basis);
        return { episodes: await countByEpisode(pool, scope, range, basis), ...at, restated };
      },
      countEpisodeRanges: async (request, context) => {
        const { episodes, basis, ...scope } = parseOrProblem(episodeRangesRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const at = await basisOf(basis.window);
        const counts = await countWindows(pool, scope.workspaceId, episodes, scope.podcastId, basis);
        const podcastIds = [scope.podcastId];
        const whole = rangeOf(episodes.map(({ range }) => range));
        const restated = whole && (await findRestatedDownloads(pool, { ...scope, podcastIds }, whole, basis));
        const rows = episodes.map(({ episodeId }, place) => ({ episodeId, downloads: counts[place]! }));
        return { episodes: rows, ...at, restated: restated ?? [] };
      },
      countEpisodes: async (request, context) => {
        const { workspaceId, podcastIds, range } = parseOrProblem(totalsRequest, request);
        await checkAccess(context, workspaceId, podcastIds);
        const at = await basisOf();
        const restated = await findRestatedDownloads(pool, { workspaceId, podcastIds }, range, defaultBasis);
        return { episodes: await countEpisodes(pool, workspaceId, podcastIds, range), ...at, restated };
      },
      countByDimension: async (request, context) => {
        const { range, dimension, basis, ...scope } = parseOrProblem(dimensionRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const at = await basisOf(basis.window);
        const restated = await findRestatedDownloads(pool, { ...scope, podcastIds: [scope.podcastId] }, range, basis);
        return { counts: await countByDimension(pool, scope, range, dimension, basis), ...at, restated };
      },
      countTotals: async (request, context) => {
        const { workspaceId, podcastIds, range } = parseOrProblem(totalsRequest, request);
        await checkAccess(context, workspaceId, podcastIds);
        const at = await basisOf();
        const restated = await findRestatedDownloads(pool, { workspaceId, podcastIds }, range, defaultBasis);
        return { podcasts: await countTotals(pool, workspaceId, podcastIds, range), ...at, restated };
      },
      findFirstDownloads: async (request, context) => {
        const { workspaceId, podcastIds } = parseOrProblem(firstDownloadsRequest, request);
        await checkAccess(context, workspaceId, podcastIds);
        return { podcasts: await findFirstDownloads(pool, workspaceId, podcastIds) };
      },
      exportDays: async (request, context) => {
        const { range, ...scope } = parseOrProblem(exportRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        return { days: await countEpisodeDays(pool, scope, range), window: wireWindow('calendar_utc') };
      },
      countAds: async (request, context) => {
        const { workspaceId, range, scope, knownAtMs: knownAt } = parseOrProblem(adsRequest, request);
        await checkAccess(context, workspaceId, [scope.$case === 'podcastId' ? scope.value : undefined]);
        const of: AdScope = { workspaceId, kind: scope.$case, id: scope.value };
        const at = await basisOf();
        const counts = await countAds(pool, of, range, knownAt);
        const clientEvents = await countClientEvents(pool, of, range, knownAt);
        return { ...counts, clientEvents, ...at, restated: await findRestatedAds(pool, of, range, knownAt) };
      },
      countAdSeries: async (request, context) => {
        const { range, granularity, ...scope } = parseOrProblem(adSeriesRequest, request);
        await checkAccess(context, scope.workspaceId, [scope.podcastId]);
        const at = await basisOf();
        const buckets = await countAdSeries(pool, scope, range, requireUnit(granularity));
        const of: AdScope = { workspaceId: scope.workspaceId, kind: 'podcastId', id: scope.podcastId };
        return { buckets, ...at, restated: await findRestatedAds(pool, of, range) };
      },
      countCampaigns: async (request, context) => {
        const { range, ...scope } = parseOrProblem(campaignsRequest, request);
        await checkAccess(context, scope.workspaceId, [], campaignRoles);
        const at = await basisOf();
        const campaigns = await countCampaigns(pool, scope, range);
        return { campaigns, ...at, restated: await findRestatedCampaigns(pool, scope, range) };
      },
      readReport: (request, _context, send) => readReport(pool, parseOrProblem(reportRequest, request), send),
    },
  );
}
