import type { ResourceView } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { Granularity as WireGranularity } from '@longwave/rpc/audience';
import { z } from 'zod';
import type { Caller } from '../http/authenticate.ts';
import { defineRoute, type AnswerShape } from '../route.ts';
import { decideRange, podcastRangeQuery, type Granularity } from './analytics-range.ts';

/** Roles whose holder may see analytics of the workspace's podcasts. */
const viewers = ['owner', 'admin', 'publisher', 'analyst'];

const wireGranularity = {
  hour: WireGranularity.HOUR,
  day: WireGranularity.DAY,
  week: WireGranularity.WEEK,
  month: WireGranularity.MONTH,
} as const satisfies Record<Granularity, WireGranularity>;

const analytics: AnswerShape = {
  name: 'PodcastAnalytics',
  schema: z.strictObject({
    meta: z.strictObject({
      timerange: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
      aggregation_granularity: podcastRangeQuery.shape.granularity.unwrap(),
      history_window: z
        .strictObject({ from: z.iso.datetime(), requested_from: z.iso.datetime(), days: z.int() })
        .optional(),
      window: z.literal('calendar_utc'),
      methodology_version: z.string(),
      complete_until: z.iso.datetime(),
    }),
    objects: z.array(z.strictObject({ date: z.string(), downloads: z.int(), listeners: z.int() })),
  }),
};

/** Contract, Authentication, rule 7. */
function permitAnalytics({ plan, roles }: Caller, podcast: ResourceView | undefined): void {
  if (!plan.includesAnalytics)
    throw new Problem('permission_denied', "You don't have the required permissions to use the Analytics API.");
  if (podcast?.lifecycle_state !== 'published' || !roles.some((role) => viewers.includes(role)))
    throw new Problem('permission_denied', "You don't have the permission to use the Analytics API on this podcast.");
}

/** A day as its date, an hour as its time. */
function bucketDate(startMs: bigint, granularity: Granularity): string {
  const time = new Date(Number(startMs)).toISOString();
  return granularity === 'hour' ? time : time.slice(0, 10);
}

const hourMs = 3_600_000;

/** GET /podcasts/{id}/analytics. */
export const podcastAnalytics = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastAnalytics',
    summary: 'Downloads and listeners of a podcast over time; buckets without data are zero.',
    object: { type: 'podcasts', from: 'path', field: 'id' },
    permit: permitAnalytics,
    query: podcastRangeQuery,
    answer: analytics,
    refusals: [403],
    run: async ({ caller, id, query }, { audience, clock }) => {
      const { from, to, granularity, historyWindow } = decideRange(query, caller.plan.historyDays, clock());
      const isEmpty = from.getTime() === to.getTime();
      const counts = await audience.countDownloads(
        {
          workspaceId: caller.workspaceId,
          podcastId: id,
          episodeId: '',
          // A range cut to nothing still says until when counting is complete; its one hour is not shown.
          range: { fromMs: BigInt(from.getTime()), toMs: BigInt(to.getTime() + (isEmpty ? hourMs : 0)) },
          granularity: wireGranularity[granularity],
        },
        { deadline: caller.deadline, principalStatement: caller.statement },
      );
      const objects = counts.buckets.map(({ startMs, downloads, listeners }) => ({
        date: bucketDate(startMs, granularity),
        downloads: Number(downloads),
        listeners: Number(listeners),
      }));
      return {
        status: 200,
        body: {
          meta: {
            timerange: { from: from.toISOString(), to: to.toISOString() },
            aggregation_granularity: granularity,
            ...(historyWindow && { history_window: historyWindow }),
            window: 'calendar_utc',
            methodology_version: counts.methodologyVersion,
            complete_until: new Date(Number(counts.completeUntilMs)).toISOString(),
          },
          objects: isEmpty ? [] : objects,
        },
      };
    },
  });
