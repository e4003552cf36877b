import { Granularity as WireGranularity } from '@longwave/rpc/audience';
import { z } from 'zod';
import type { Asker } from '../management.ts';
import { windowNames, type CountingBasis } from './counting-basis.ts';
import { podcastRangeQuery, type AnalyticsRange, type Granularity } from './analytics-range.ts';

/** `meta` of every answer with numbers (contract, Resources, analytics response). */
export const metaSchema = z.strictObject({
  timerange: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
  aggregation_granularity: podcastRangeQuery.shape.granularity.unwrap(),
  history_window: z
    .strictObject({ from: z.iso.datetime(), requested_from: z.iso.datetime(), days: z.int() })
    .optional(),
  window: z.enum(windowNames).describe('What the downloads were counted in.'),
  known_at: z.iso
    .datetime()
    .optional()
    .describe('Present when it was asked for: the numbers are those that were known at this time.'),
  methodology_version: z.string(),
  complete_until: z.iso.datetime().describe('Facts up to this time are counted; never later than `known_at`.'),
  provisional_from: z.iso
    .datetime()
    .describe(
      'Numbers from here on may still grow, or be held for an address or a listener with more downloads than people make (docs/counting.md, rule 16).',
    ),
});

/** How numbers were counted, and until when. */
export interface Basis {
  readonly methodologyVersion: string;
  readonly completeUntilMs: bigint;
}

/** Numbers of several answers are complete as far as the least complete one is. */
export const jointBasis = (first: Basis, ...others: readonly Basis[]): Basis =>
  others.reduce((least, basis) => (basis.completeUntilMs < least.completeUntilMs ? basis : least), first);

const dayMs = 24 * 3_600_000;

/**
 * Start of the first UTC day that facts in time may still change, milliseconds since the epoch: a session grows for 24 h from its start,
 * and rule 16 holds whole days.
 */
const provisionalFromMs = (completeUntilMs: number): number =>
  Math.max(0, Math.floor((completeUntilMs - dayMs) / dayMs) * dayMs);

/** @param asked window and time of knowledge, as the caller named them */
export function renderMeta(
  { from, to, granularity, historyWindow }: AnalyticsRange,
  { methodologyVersion, completeUntilMs }: Basis,
  { window = 'calendar_utc', known_at: knownAt }: CountingBasis = {},
): z.output<typeof metaSchema> {
  const knownAtMs = knownAt === undefined ? Infinity : Date.parse(knownAt);
  const completeMs = Math.min(Number(completeUntilMs), knownAtMs);
  return {
    timerange: { from: from.toISOString(), to: to.toISOString() },
    aggregation_granularity: granularity,
    ...(historyWindow && { history_window: historyWindow }),
    window,
    ...(knownAt !== undefined && { known_at: new Date(knownAtMs).toISOString() }),
    methodology_version: methodologyVersion,
    complete_until: new Date(completeMs).toISOString(),
    provisional_from: new Date(provisionalFromMs(completeMs)).toISOString(),
  };
}

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
