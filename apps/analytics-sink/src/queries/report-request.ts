import {
  reportConflicts,
  reportDimensions,
  reportFilterDimensions,
  reportMetricNames,
  type ReportConflict,
} from '@longwave/events';
import { isWholeHourZone } from '@longwave/podcast-analytics/zoned-days';
import { z } from 'zod';
import { range, window, windowOf } from './count-requests.ts';
import { resolveTimeZone } from './zoned-queries.ts';

const isEachOnce = (names: readonly unknown[]) => new Set(names).size === names.length;
const once = { message: 'Name each one once.' };
const id = z.string().min(1).max(64);

const sentence = ({ metric, dimension }: ReportConflict) =>
  dimension === undefined ? `${metric} is counted in calendar_utc only.` : `${metric} is not counted by ${dimension}.`;

/** A report as management asks for it. A name that is not of docs/reports.md, and a combination that its table does not have, are refused. */
export const reportRequest = z
  .strictObject({
    workspaceId: id,
    range,
    dimensions: z.array(z.enum(reportDimensions)).refine(isEachOnce, once),
    metrics: z.array(z.enum(reportMetricNames)).min(1).refine(isEachOnce, once),
    filters: z.array(
      z.strictObject({ dimension: z.enum(reportFilterDimensions), keys: z.array(z.string().max(255)).max(1000) }),
    ),
    window,
    timeZone: z.string().max(64),
    advertisers: z.array(z.strictObject({ campaignId: id, advertiserId: id })),
    lineItemTypes: z.array(z.strictObject({ lineItemId: id, type: id })),
  })
  .transform(({ window: wire, timeZone, ...request }) => ({
    ...request,
    window: windowOf(wire),
    timeZone: resolveTimeZone(timeZone || 'UTC'),
  }))
  .superRefine((request, context) => {
    const { dimensions, metrics, filters, window: basis, timeZone } = request;
    const named = [...dimensions, ...filters.map(({ dimension }) => dimension)];
    for (const conflict of reportConflicts({ dimensions: named, metrics, basis }))
      context.addIssue({ code: 'custom', path: ['metrics'], message: sentence(conflict) });
    if (!isWholeHourZone(timeZone, request.range))
      context.addIssue({ code: 'custom', path: ['timeZone'], message: 'Name a zone that is whole hours off UTC.' });
  });

export type ReportRequest = z.output<typeof reportRequest>;
