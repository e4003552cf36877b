import { Granularity as WireGranularity, type RestatedRange as WireRestatedRange } from '@longwave/rpc/audience';
import { z } from 'zod';
import { incompleteFromMs, provisionalFromMs } from './completeness.ts';
import { windowNames, type CountingBasis } from './counting-basis.ts';
import { podcastRangeQuery, type AnalyticsRange, type Granularity } from './analytics-range.ts';

const maxRestated = 100;

/** `meta` of every answer with numbers. */
export const metaSchema = z.strictObject({
  timerange: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
  aggregation_granularity: podcastRangeQuery.shape.granularity.unwrap(),
  history_window: z
    .strictObject({ from: z.iso.datetime(), requested_from: z.iso.datetime(), days: z.int() })
    .optional(),
  window: z.enum(windowNames).describe('The window in which the downloads were counted.'),
  known_at: z.iso
    .datetime()
    .optional()
    .describe('Present if the request has it: the numbers are those that were known at this time.'),
  methodology_version: z.string(),
  complete_until: z.iso.datetime().describe('All downloads up to this time are counted. Never later than `known_at`.'),
  provisional_from: z.iso
    .datetime()
    .describe(
      'Numbers from here on may still grow, or be held for an address or a listener with more downloads than people make (docs/counting.md, rule 16).',
    ),
  incomplete_from: z.iso
    .datetime()
    .optional()
    .describe(
      'Present when the range goes on beyond `complete_until`: the hour in which that lies, and all hours after it, lack facts that are not counted yet.',
    ),
  restated: z
    .array(z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime(), restated_at: z.iso.datetime() }))
    .min(1)
    .max(maxRestated)
    .optional()
    .describe(
      `Present when numbers of this answer changed after their hour was closed: the hours, and when the latest change was recorded; the latest first, at most ${maxRestated} (docs/counting.md, corrections).`,
    ),
});

/** How numbers were counted, and until when. */
export interface Basis {
  readonly methodologyVersion: string;
  readonly completeUntilMs: bigint;
  /** Hours in a row whose numbers changed after they were closed. */
  readonly restated: readonly RestatedRange[];
}

type RestatedRange = Pick<WireRestatedRange, 'fromMs' | 'toMs' | 'restatedAtMs'>;

/** Joins ranges that overlap or touch; the latest restatement first. */
function joinRestated(ranges: readonly RestatedRange[]): RestatedRange[] {
  const joined: RestatedRange[] = [];
  for (const range of ranges.toSorted((a, b) => Number(a.fromMs - b.fromMs))) {
    const last = joined.at(-1);
    if (last === undefined || range.fromMs > last.toMs) joined.push(range);
    else
      joined[joined.length - 1] = {
        fromMs: last.fromMs,
        toMs: range.toMs > last.toMs ? range.toMs : last.toMs,
        restatedAtMs: range.restatedAtMs > last.restatedAtMs ? range.restatedAtMs : last.restatedAtMs,
      };
  }
  return joined
    .sort((a, b) => Number(b.restatedAtMs - a.restatedAtMs) || Number(b.fromMs - a.fromMs))
    .slice(0, maxRestated);
}

/** The basis of several answers together: complete as far as the least complete one, restated where any is. */
export const jointBasis = (first: Basis, ...others: readonly Basis[]): Basis => ({
  ...others.reduce((least, basis) => (basis.completeUntilMs < least.completeUntilMs ? basis : least), first),
  restated: joinRestated([first, ...others].flatMap(({ restated }) => restated)),
});

const hourMs = 3_600_000;
const instant = (ms: number | bigint) => new Date(Number(ms)).toISOString();

/** The hours of the range that lack facts, and those that were restated; neither for an empty range. */
function renderHours(range: AnalyticsRange, completeMs: number, restated: Basis['restated']) {
  const incompleteMs = incompleteFromMs(range.from.getTime(), completeMs);
  return {
    ...(incompleteMs < range.to.getTime() && { incomplete_from: instant(incompleteMs) }),
    ...(restated.length > 0 &&
      !isEmpty(range) && {
        restated: restated.map(({ fromMs, toMs, restatedAtMs }) => ({
          from: instant(fromMs),
          to: instant(toMs),
          restated_at: instant(restatedAtMs),
        })),
      }),
  };
}

/** @param asked window and time of knowledge, as the caller named them */
export function renderMeta(
  range: AnalyticsRange,
  { methodologyVersion, completeUntilMs, restated }: Basis,
  { window = 'calendar_utc', known_at: knownAt }: CountingBasis = {},
): z.output<typeof metaSchema> {
  const { from, to, granularity, historyWindow } = range;
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
    ...renderHours(range, completeMs, restated),
  };
}

/** Whether the plan's history left nothing of the range. */
export const isEmpty = ({ from, to }: AnalyticsRange): boolean => from.getTime() === to.getTime();

/** The range on the wire. An empty one asks for one hour, because the answer also says until when counting is complete. */
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
