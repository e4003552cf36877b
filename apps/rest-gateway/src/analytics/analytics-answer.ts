import { Granularity as WireGranularity } from '@longwave/rpc/audience';
import { z } from 'zod';
import type { Asker } from '../management.ts';
import { podcastRangeQuery, type AnalyticsRange, type Granularity } from './analytics-range.ts';

/** `meta` of every answer with numbers (contract, Resources, analytics response). */
export const metaSchema = z.strictObject({
  timerange: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
  aggregation_granularity: podcastRangeQuery.shape.granularity.unwrap(),
  history_window: z
    .strictObject({ from: z.iso.datetime(), requested_from: z.iso.datetime(), days: z.int() })
    .optional(),
  window: z.literal('calendar_utc'),
  methodology_version: z.string(),
  complete_until: z.iso.datetime(),
});

/** How numbers were counted, and until when. */
export interface Basis {
  readonly methodologyVersion: string;
  readonly completeUntilMs: bigint;
}

/** Numbers of several answers are complete as far as the least complete one is. */
export const jointBasis = (first: Basis, ...others: readonly Basis[]): Basis =>
  others.reduce((least, basis) => (basis.completeUntilMs < least.completeUntilMs ? basis : least), first);

export const renderMeta = (
  { from, to, granularity, historyWindow }: AnalyticsRange,
  { methodologyVersion, completeUntilMs }: Basis,
): z.output<typeof metaSchema> => ({
  timerange: { from: from.toISOString(), to: to.toISOString() },
  aggregation_granularity: granularity,
  ...(historyWindow && { history_window: historyWindow }),
  window: 'calendar_utc',
  methodology_version: methodologyVersion,
  complete_until: new Date(Number(completeUntilMs)).toISOString(),
});

/** Cut to nothing by the plan's history. */
export const isEmpty = ({ from, to }: AnalyticsRange): boolean => from.getTime() === to.getTime();

const hourMs = 3_600_000;

/** On the wire. A range cut to nothing still asks for an hour, to learn until when counting is complete; it is not shown. */
export const wireRange = (range: AnalyticsRange) => ({
  fromMs: BigInt(range.from.getTime()),
  toMs: BigInt(range.to.getTime() + (isEmpty(range) ? hourMs : 0)),
});

export const wireGranularity = {
  hour: WireGranularity.HOUR,
  day: WireGranularity.DAY,
  week: WireGranularity.WEEK,
  month: WireGranularity.MONTH,
} as const satisfies Record<Granularity, WireGranularity>;

/** A bucket's start: a day as its date, an hour as its time. */
export function bucketDate(startMs: bigint, granularity: Granularity): string {
  const time = new Date(Number(startMs)).toISOString();
  return granularity === 'hour' ? time : time.slice(0, 10);
}

/** For whom analytics-sink is asked, and until when. */
export const asking = ({ deadline, statement }: Asker) => ({ deadline, principalStatement: statement });
