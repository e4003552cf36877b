import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { windowNames } from './counting-basis.ts';
import { daysOf, isTimeZone, utcDays, type Days } from './zoned-days.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const point = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  error: 'Write a date such as 2026-11-01, or a time such as 2026-11-01T10:00:00Z.',
});
const dayCount = z.int().min(0).max(36_500);

/** In which window downloads are counted, and as known at which time. */
const basis = {
  window: z.enum(windowNames).optional().meta({
    description:
      'When the same listener counts again for the same episode: once per UTC date (`calendar_utc`, the default), 24 h after the last counted start (`first_touch_24h`), or 24 h after the last qualifying start, counted or not (`last_touch_24h`).',
  }),
  known_at: z.iso
    .datetime({ offset: true, error: 'Write a time such as 2026-11-01T10:00:00Z.', abort: true })
    .refine((text) => Date.parse(text) >= 0 && Date.parse(text) < Date.UTC(2200, 0), {
      error: 'Name a time from 1970 to 2199.',
    })
    .optional()
    .meta({
      description:
        'Downloads as they were known at this time, before later corrections; a time in the future means now. Such numbers are in UTC (`time_zone` is refused) and their `listeners` are null.',
      examples: ['2026-11-01T10:00:00Z'],
    }),
};

const points = {
  from: point
    .optional()
    .meta({ description: 'Start of the range. Send it together with `to`.', examples: ['2026-11-01'] }),
  to: point
    .optional()
    .meta({ description: 'End of the range. Send it together with `from`.', examples: ['2026-11-30'] }),
  granularity: z
    .enum(['hour', 'day', 'week', 'month'])
    .optional()
    .meta({ description: 'Length of each bucket. Default: chosen by the length of the range.' }),
  ...basis,
};

/** Time range and granularity of a podcast's analytics. */
export const podcastRangeQuery = z.strictObject({
  ...points,
  days_offset: dayCount
    .optional()
    .meta({ description: 'Number of days before today, instead of `from` and `to`.', examples: [30] }),
});

/** IANA name of the zone whose days, weeks and months are counted; UTC without it. */
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: ({ input }) => `“${String(input)}” is not the name of an IANA time zone.` });

/** The same of episodes beside each other, also each in its own first days. */
export const podcastEpisodesQuery = podcastRangeQuery.extend({
  days_since_published: dayCount.optional().meta({
    description:
      'Number of days after the publication of each episode, instead of a range: each is counted in its own first days, the day of its publication (UTC) included, so that old and new ones compare.',
    examples: [6],
  }),
});

/** The same of numbers over time. */
export const podcastSeriesQuery = podcastRangeQuery.extend({ time_zone: timeZone.optional() });

/** The same of one episode. */
export const episodeRangeQuery = z.strictObject({
  ...points,
  days_since_published: dayCount.optional().meta({
    description: 'Number of days after the publication of the episode, instead of `from` and `to`.',
    examples: [7],
  }),
  time_zone: timeZone.optional(),
});

export type PodcastRangeQuery = z.output<typeof podcastRangeQuery>;
export type PodcastEpisodesQuery = z.output<typeof podcastEpisodesQuery>;
export type PodcastSeriesQuery = z.output<typeof podcastSeriesQuery>;
export type EpisodeRangeQuery = z.output<typeof episodeRangeQuery>;

export type Granularity = NonNullable<PodcastRangeQuery['granularity']>;

/** Half-open, milliseconds since the epoch. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The counted range: half-open, whole UTC hours, because counts are kept by the hour, or whole days of a zone. */
export interface AnalyticsRange {
  readonly from: Date;
  readonly to: Date;
  readonly granularity: Granularity;
  /** The cut, when the plan's history does not reach back to what was asked for. */
  readonly historyWindow?: { readonly from: string; readonly requested_from: string; readonly days: number };
}

/** Says that a query has two forms of a range. */
export const oneRange = 'You should provide either from/to or days_offset parameter(s).';
const invalid = (message: string) => new Problem('validation_failed', message);
const isDate = (text: string) => text.length === 10;
const dayOfDate = (text: string) => Date.parse(text) / dayMs;

/**
 * The span that a query asks for. Throws `validation_failed` unless it has exactly one complete form.
 * @param days the span of the other form (days_offset, days_since_published), when it was sent; the texts are the same for both
 */
function requestedSpan(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  days: Span | undefined,
  zone: Days,
): Span {
  const hasPoints = from !== undefined || to !== undefined;
  if (!hasPoints && !days) throw invalid('Provide from/to or days_offset parameter(s).');
  if (hasPoints && days) throw invalid(oneRange);
  if (days) return days;
  if (from === undefined || to === undefined) throw invalid('You should provide both from and to params.');
  // A date as the end of a range includes that day.
  const start = isDate(from) ? zone.startMs(dayOfDate(from)) : Date.parse(from);
  const end = isDate(to) ? zone.startMs(dayOfDate(to) + 1) : Date.parse(to);
  if (start >= end) throw invalid('The range ends before it starts.');
  return {
    fromMs: isDate(from) ? start : Math.floor(start / hourMs) * hourMs,
    toMs: isDate(to) ? end : Math.ceil(end / hourMs) * hourMs,
  };
}

/** About 50 to 100 points whatever the length. */
function granularityFor(lengthMs: number): Granularity {
  if (lengthMs <= 2 * dayMs) return 'hour';
  if (lengthMs <= 92 * dayMs) return 'day';
  return lengthMs <= 400 * dayMs ? 'week' : 'month';
}

/** Start of the plan's history: `historyDays` days before today; 0 when it is unlimited. */
export const historyStartMs = (historyDays: number | undefined, now: Date, zone: Days = utcDays): number =>
  historyDays === undefined ? 0 : zone.startMs(zone.dayAt(now.getTime()) - historyDays);

/**
 * The span as far as there is something to count: not before 1970, not before the plan's history, not after today. A span that lies
 * beyond is cut to nothing: `from` equals `to`. Without a granularity it is that of what was asked for within the history, so that an
 * answer of a young episode keeps its form while it grows.
 */
export function cutToHistory(
  { fromMs, toMs }: Span,
  granularity: Granularity | undefined,
  historyDays: number | undefined,
  now: Date,
  zone: Days = utcDays,
): AnalyticsRange {
  const earliestMs = historyStartMs(historyDays, now, zone);
  const latestMs = zone.startMs(zone.dayAt(now.getTime()) + 1);
  const [reachableFromMs, reachableToMs] = [Math.max(fromMs, earliestMs, 0), Math.max(toMs, earliestMs, 0)];
  const from = new Date(Math.min(reachableFromMs, latestMs));
  const to = new Date(Math.min(reachableToMs, latestMs));
  return {
    from,
    to,
    granularity: granularity ?? granularityFor(reachableToMs - reachableFromMs),
    ...(historyDays !== undefined &&
      fromMs < earliestMs && {
        historyWindow: {
          from: from.toISOString(),
          requested_from: new Date(Math.max(0, fromMs)).toISOString(),
          days: historyDays,
        },
      }),
  };
}

/** So many whole days up to and with today, back to 1970 at most. */
export function lastDays(count: number, now: Date, zone: Days = utcDays): Span {
  const tomorrow = zone.dayAt(now.getTime()) + 1;
  return { fromMs: Math.max(0, zone.startMs(tomorrow - count)), toMs: zone.startMs(tomorrow) };
}

const zoneOf = ({ time_zone: name }: { readonly time_zone?: string | undefined }): Days =>
  name === undefined ? utcDays : daysOf(name);

/** The range of a podcast's analytics. `days_offset` counts whole days back from today and includes today. */
export function decideRange(query: PodcastSeriesQuery, historyDays: number | undefined, now: Date): AnalyticsRange {
  const { days_offset: days } = query;
  const zone = zoneOf(query);
  const span = days === undefined ? undefined : lastDays(days + 1, now, zone);
  const requested = requestedSpan(query, span, zone);
  return cutToHistory(requested, query.granularity, historyDays, now, zone);
}

/** The range of an episode's analytics. `days_since_published` counts whole days on from that of publication and includes it. */
export function decideEpisodeRange(
  query: EpisodeRangeQuery,
  publishedAt: Date,
  historyDays: number | undefined,
  now: Date,
): AnalyticsRange {
  const { days_since_published: days } = query;
  const zone = zoneOf(query);
  const first = zone.dayAt(publishedAt.getTime());
  const span = days === undefined ? undefined : { fromMs: zone.startMs(first), toMs: zone.startMs(first + days + 1) };
  const requested = requestedSpan(query, span, zone);
  return cutToHistory(requested, query.granularity, historyDays, now, zone);
}
