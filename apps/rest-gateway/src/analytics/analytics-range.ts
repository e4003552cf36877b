import { Problem } from '@longwave/problems';
import { z } from 'zod';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const point = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  error: 'expected a date such as 2026-11-01 or an RFC 3339 time',
});

/** Time range and granularity of a podcast's analytics (contract, Limits). */
export const podcastRangeQuery = z.strictObject({
  from: point.optional(),
  to: point.optional(),
  days_offset: z.int().min(0).max(36_500).optional(),
  granularity: z.enum(['hour', 'day', 'week', 'month']).optional(),
});

export type Granularity = NonNullable<z.output<typeof podcastRangeQuery>['granularity']>;

/** What is counted: half-open, whole UTC hours, because counts are kept by the hour. */
export interface AnalyticsRange {
  readonly from: Date;
  readonly to: Date;
  readonly granularity: Granularity;
  /** The cut, when the plan's history does not reach back to what was asked for. */
  readonly historyWindow?: { readonly from: string; readonly requested_from: string; readonly days: number };
}

const invalid = (message: string) => new Problem('validation_failed', message);
const startOfDay = (ms: number) => Math.floor(ms / dayMs) * dayMs;

/** A date as the end of a range includes that day. */
const endOf = (text: string) => Date.parse(text) + (text.length === 10 ? dayMs : 0);

/** Contract, Errors, analytics time-range errors. */
function requestedRange(query: z.output<typeof podcastRangeQuery>, now: Date): { fromMs: number; toMs: number } {
  const { from, to, days_offset: daysOffset } = query;
  const points = from !== undefined || to !== undefined;
  if (!points && daysOffset === undefined) throw invalid('Provide from/to or days_offset parameter(s).');
  if (points && daysOffset !== undefined)
    throw invalid('You should provide either from/to or days_offset parameter(s).');
  const today = startOfDay(now.getTime());
  if (daysOffset !== undefined) return { fromMs: today - daysOffset * dayMs, toMs: today + dayMs };
  if (from === undefined || to === undefined) throw invalid('You should provide both from and to params.');
  const range = {
    fromMs: Math.floor(Date.parse(from) / hourMs) * hourMs,
    toMs: Math.ceil(endOf(to) / hourMs) * hourMs,
  };
  if (Date.parse(from) >= endOf(to)) throw invalid('The range ends before it starts.');
  if (range.fromMs < 0 || range.toMs > Date.UTC(2200, 0)) throw invalid('The range must lie between 1970 and 2199.');
  return range;
}

/** About 50 to 100 points whatever the length. */
function granularityFor(lengthMs: number): Granularity {
  if (lengthMs <= 2 * dayMs) return 'hour';
  if (lengthMs <= 92 * dayMs) return 'day';
  return lengthMs <= 400 * dayMs ? 'week' : 'month';
}

/**
 * The range that is counted: as asked, cut to the plan's history (`historyDays` days before today; undefined is
 * unlimited). A range that lies before it is cut to nothing: `from` equals `to`. Throws `validation_failed`.
 */
export function decideRange(
  query: z.output<typeof podcastRangeQuery>,
  historyDays: number | undefined,
  now: Date,
): AnalyticsRange {
  const { fromMs, toMs } = requestedRange(query, now);
  const earliestMs = historyDays === undefined ? 0 : startOfDay(now.getTime()) - historyDays * dayMs;
  const from = new Date(Math.max(fromMs, earliestMs));
  const to = new Date(Math.max(toMs, earliestMs));
  return {
    from,
    to,
    granularity: query.granularity ?? granularityFor(to.getTime() - from.getTime()),
    ...(historyDays !== undefined &&
      fromMs < earliestMs && {
        historyWindow: {
          from: from.toISOString(),
          requested_from: new Date(fromMs).toISOString(),
          days: historyDays,
        },
      }),
  };
}
