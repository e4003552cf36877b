import type { Attributes, ChangesOf } from '@longwave/command-catalog';
import { daysOf, isTimeZone, isWholeHourZone } from '@longwave/podcast-analytics/zoned-days';
import { Problem } from '@longwave/problems';
import { refuseField } from '../../workspace/refuse-field.ts';

export type Reconciliation = Attributes<'reconciliations'>;
export type ReconciliationSource = Reconciliation['sources'][number];
type Totals = NonNullable<Reconciliation['totals']>;
type Period = Reconciliation['period'];

const dayMs = 86_400_000;
/** Facts of a day may come for so long after it (docs/counting.md). */
const settleMs = 7 * dayMs;
const maxDays = 366;

/** The most units of a source, and of an item: a difference of two such numbers fits into one adjustment. */
export const maxUnits = 500_000_000_000;

/** Per cent of our number by which a source may differ: 10 for third parties (IAB), 5 for a counter that counts by the same guidelines. */
export const toleranceOf = (
  { tolerance_pct: pct }: Pick<Reconciliation, 'tolerance_pct'>,
  { kind }: Pick<ReconciliationSource, 'kind'>,
): number => pct ?? (kind === 'ptmg_counter' ? 5 : 10);

/** The date of a day that is counted from 1970-01-01 on. */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);
/** The number of a date, the other way round. */
export const dayOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / dayMs;

/** Numbers of the days of a period, the end excluded. */
export interface DayRange {
  readonly first: number;
  readonly end: number;
}

/** The days of a period in the zone of its reconciliation. */
export function daysOfPeriod(period: Period, timeZone: string): DayRange {
  const { dayAt } = daysOf(timeZone);
  return { first: dayAt(Date.parse(period.start)), end: dayAt(Date.parse(period.end)) };
}

/** The instants of those days in another zone. */
export function instantsOf(
  { first, end }: DayRange,
  timeZone: string,
): { readonly fromMs: number; readonly toMs: number } {
  const { startMs } = daysOf(timeZone);
  return { fromMs: startMs(first), toMs: startMs(end) };
}

/** The time that is compared: the days of the period in the zone of every source. */
export function comparedRange({
  period,
  time_zone: timeZone,
  sources,
}: Pick<Reconciliation, 'period' | 'time_zone'> & {
  readonly sources: readonly Pick<ReconciliationSource, 'time_zone'>[];
}): { readonly fromMs: number; readonly toMs: number } {
  const days = daysOfPeriod(period, timeZone);
  const ranges = sources.map((source) => instantsOf(days, source.time_zone ?? timeZone));
  return {
    fromMs: Math.min(...ranges.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...ranges.map(({ toMs }) => toMs)),
  };
}

/** Whether late facts of a period have come: it is over by 7 days. */
export function isSettled(
  { period, time_zone: timeZone }: Pick<Reconciliation, 'period' | 'time_zone'>,
  now: Date,
): boolean {
  return instantsOf(daysOfPeriod(period, timeZone), timeZone).toMs + settleMs <= now.getTime();
}

/** Throws `validation_failed` unless a period consists of at most 366 whole days of its zone, and is over by 7 days where it is not provisional. */
export function assertPeriod(
  { period, time_zone: timeZone, provisional }: Pick<Reconciliation, 'period' | 'time_zone' | 'provisional'>,
  now: Date,
): void {
  if (!isTimeZone(timeZone))
    refuseField('/changes/time_zone', 'unknown_zone', 'Write a time zone such as “Europe/Berlin”.');
  const days = daysOfPeriod(period, timeZone);
  const { fromMs, toMs } = instantsOf(days, timeZone);
  if (fromMs !== Date.parse(period.start) || toMs !== Date.parse(period.end))
    refuseField('/changes/period', 'not_whole_days', `Begin and end the period at midnight in ${timeZone}.`);
  if (days.end - days.first > maxDays)
    refuseField('/changes/period', 'too_long', `A reconciliation covers at most ${maxDays} days.`);
  if (!provisional && !isSettled({ period, time_zone: timeZone }, now))
    refuseField(
      '/changes/period/end',
      'not_settled',
      'Reconcile a period when it is over by 7 days, or reconcile it as provisional.',
    );
}

/** Throws `validation_failed` for a zone whose days are no whole hours of UTC, by which ads are counted. */
export function assertCountedZone(timeZone: string, { period }: Pick<Reconciliation, 'period'>, path: string): void {
  const [from, to] = [new Date(Date.parse(period.start) - dayMs), new Date(Date.parse(period.end) + dayMs)];
  if (isWholeHourZone(timeZone, { from, to })) return;
  refuseField(
    path,
    'time_zone_not_counted',
    `Ads are counted by whole hours of UTC, and ${timeZone} is not whole hours off. Leave the zone out: then the whole period is compared.`,
  );
}

type Compared = Parameters<typeof comparedRange>[0];

/** Whether two reconciliations compare an instant in common. */
export function overlaps(a: Compared, b: Compared): boolean {
  const [one, other] = [comparedRange(a), comparedRange(b)];
  return one.fromMs < other.toMs && other.fromMs < one.toMs;
}

/** Why closing fails before anything is posted; verdicts can be changed again. */
export const unpostable = 'too_many_units';

/** Throws `state_not_allowed` once the reconciliation closes, and after that failed: adjustments may be posted. */
export function assertNotClosing({ closing }: Readonly<Reconciliation>): void {
  if (closing)
    throw new Problem(
      'state_not_allowed',
      'The reconciliation is being closed, and some adjustments may be posted. If closing failed, close it again.',
    );
}

/** Throws `state_not_allowed` for a provisional one: its numbers still change, and statements charge what it would adjust. */
export function assertFinal({ provisional }: Readonly<Reconciliation>): void {
  if (provisional)
    throw new Problem(
      'state_not_allowed',
      'The reconciliation is provisional. Match it again when its period is over by 7 days; then it can be closed.',
    );
}

/** Items with these have no number that a tolerance could be of, so people decide each of them, however small it is. */
export const alwaysDecided = ['missing_theirs', 'duplicate_rows', 'basis_differs'] as const;

/** Throws `state_not_allowed` while items that people must decide have no verdict. @param open how many those are */
export function assertDecided(open: number): void {
  if (open === 0) return;
  const items = open === 1 ? 'One item is' : `${open} items are`;
  throw new Problem(
    'state_not_allowed',
    `${items} beyond the tolerance, missing from the source, repeated in it or counted by another basis, and undecided. Decide them first.`,
  );
}

/** What reviewers of a closing are shown: by what its items were decided, and what people left undecided. */
export const closingShown = ({
  sources,
  smallest_difference: smallest,
  totals,
  ...rest
}: Readonly<Reconciliation>) => ({
  tolerances: sources.map((source) => ({ source: source.name, tolerance_pct: toleranceOf(rest, source) })),
  smallest_difference: smallest,
  ...(totals && { ours: totals.ours, theirs: totals.theirs, undecided: totals.undecided }),
});

/** Throws `version_conflict` for an item that was matched or decided anew after reviewers saw its reconciliation. */
export function assertAsReviewed(
  { changed_version: changed }: { readonly changed_version: number },
  reviewedVersion: number | undefined,
): void {
  if (reviewedVersion !== undefined && changed > reviewedVersion)
    throw new Problem(
      'version_conflict',
      'The item was matched or decided anew after this verdict was requested. Look at it and decide it again.',
    );
}

/** The totals after an item has got a verdict. */
export function afterVerdict(
  totals: Totals,
  item: { readonly verdict: string | null; readonly beyond: boolean },
): Totals {
  if (item.verdict !== null) return totals;
  return {
    ...totals,
    undecided: totals.undecided - 1,
    undecided_beyond: totals.undecided_beyond - (item.beyond ? 1 : 0),
  };
}

/** What is left of a reconciliation that is matched again: the outcome of the matching before is gone. */
export function unmatched(current: Readonly<Reconciliation>): Reconciliation {
  const { known_at: _at, totals: _totals, found: _found, problem: _problem, findings: _findings, ...kept } = current;
  return kept;
}

export type RequestedSource = ChangesOf<'reconciliation.open'>['sources'][number];
