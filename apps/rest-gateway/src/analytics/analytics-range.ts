import { Problem } from '@longwave/problems';
import { z } from 'zod';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const point = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  error: 'expected a date such as 2026-11-01 or an RFC 3339 time',
});
const dayCount = z.int().min(0).max(36_500);

const points = {
  from: point.optional(),
  to: point.optional(),
  granularity: z.enum(['hour', 'day', 'week', 'month']).optional(),
};

/** Time range and granularity of a podcast's analytics (contract, Limits). */
export const podcastRangeQuery = z.strictObject({ ...points, days_offset: dayCount.optional() });

/** The same of one episode. */
export const episodeRangeQuery = z.strictObject({ ...points, days_since_published: dayCount.optional() });

export type Granularity = NonNullable<z.output<typeof podcastRangeQuery>['granularity']>;

/** Half-open, milliseconds since the epoch. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What is counted: half-open, whole UTC hours, because counts are kept by the hour. */
export interface AnalyticsRange {
  readonly from: Date;
  readonly to: Date;
  readonly granularity: Granularity;
  /** The cut, when the plan's history does not reach back to what was asked for. */
  readonly historyWindow?: { readonly from: string; readonly requested_from: string; readonly days: number };
}

const invalid = (message: string) => new Problem('validation_failed', message);
export const startOfDay = (ms: number) => Math.floor(ms / dayMs) * dayMs;

/** A date as the end of a range includes that day. */
const endOf = (text: string) => Date.parse(text) + (text.length === 10 ? dayMs : 0);

/**
 * Contract, Errors, analytics time-range errors.
 * @param days the other form: the name of its parameter and the span that it stands for, when it was sent
 */
function requestedSpan(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  days: { readonly name: 'days_offset' | 'days_since_published'; readonly span: Span | undefined },
): Span {
  const hasPoints = from !== undefined || to !== undefined;
  if (!hasPoints && !days.span) throw invalid(`Provide from/to or ${days.name} parameter(s).`);
  if (hasPoints && days.span) throw invalid(`You should provide either from/to or ${days.name} parameter(s).`);
  if (days.span) return days.span;
  if (from === undefined || to === undefined) throw invalid('You should provide both from and to params.');
  if (Date.parse(from) >= endOf(to)) throw invalid('The range ends before it starts.');
  return { fromMs: Math.floor(Date.parse(from) / hourMs) * hourMs, toMs: Math.ceil(endOf(to) / hourMs) * hourMs };
}

/** About 50 to 100 points whatever the length. */
function granularityFor(lengthMs: number): Granularity {
  if (lengthMs <= 2 * dayMs) return 'hour';
  if (lengthMs <= 92 * dayMs) return 'day';
  return lengthMs <= 400 * dayMs ? 'week' : 'month';
}

/** Start of the plan's history: `historyDays` days before today; 0 when it is unlimited. */
export const historyStartMs = (historyDays: number | undefined, now: Date): number =>
  historyDays === undefined ? 0 : startOfDay(now.getTime()) - historyDays * dayMs;

/**
 * The span as far as the plan's history reaches (contract, Limits, analytics history). A span that lies before it is cut to
 * nothing: `from` equals `to`. Throws `validation_failed` for years that nobody counts.
 */
export function cutToHistory(
  { fromMs, toMs }: Span,
  granularity: Granularity | undefined,
  historyDays: number | undefined,
  now: Date,
): AnalyticsRange {
  if (fromMs < 0 || toMs > Date.UTC(2200, 0)) throw invalid('The range must lie between 1970 and 2199.');
  const earliestMs = historyStartMs(historyDays, now);
  const from = new Date(Math.max(fromMs, earliestMs));
  const to = new Date(Math.max(toMs, earliestMs));
  return {
    from,
    to,
    granularity: granularity ?? granularityFor(to.getTime() - from.getTime()),
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

/** So many whole UTC days up to and with today, back to 1970 at most. */
export function lastDays(count: number, now: Date): Span {
  const toMs = startOfDay(now.getTime()) + dayMs;
  return { fromMs: Math.max(0, toMs - count * dayMs), toMs };
}

/** The range of a podcast's analytics. `days_offset` counts whole days back from today and includes today. */
export function decideRange(
  query: z.output<typeof podcastRangeQuery>,
  historyDays: number | undefined,
  now: Date,
): AnalyticsRange {
  const { days_offset: days } = query;
  const span = days === undefined ? undefined : lastDays(days + 1, now);
  return cutToHistory(requestedSpan(query, { name: 'days_offset', span }), query.granularity, historyDays, now);
}

/** The range of an episode's analytics. `days_since_published` counts whole days on from that of publication and includes it. */
export function decideEpisodeRange(
  query: z.output<typeof episodeRangeQuery>,
  publishedAt: Date,
  historyDays: number | undefined,
  now: Date,
): AnalyticsRange {
  const { days_since_published: days } = query;
  const fromMs = startOfDay(publishedAt.getTime());
  const span = days === undefined ? undefined : { fromMs, toMs: fromMs + (days + 1) * dayMs };
  const requested = requestedSpan(query, { name: 'days_since_published', span });
  return cutToHistory(requested, query.granularity, historyDays, now);
}
