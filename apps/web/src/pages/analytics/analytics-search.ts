import { addDays, daysBetween, isDay, lastDayOf, type Step } from '../../parts/chart/calendar.ts';
import { parseTableSearch, type TableSearch } from '../../parts/table-rows.ts';

/** Ranges that end today; 30 days where an address names none. */
export const rangeChoices = ['7d', '30d', '90d', 'year', 'all'] as const;
export type RangeChoice = (typeof rangeChoices)[number];
/** What a range is compared with: as many days right before it, or the same days a year ago. */
export const comparisons = ['before', 'year_ago', 'none'] as const;
export type Comparison = (typeof comparisons)[number];
/** The age at which episodes compare, in days with that of their publication. */
export const ages = ['1', '7', '30'] as const;
export type Age = (typeof ages)[number];
const steps: readonly Step[] = ['hour', 'day', 'week', 'month'];

/** What the address of a page of numbers says. Whatever is left out is as at first. */
export interface AnalyticsSearch extends TableSearch {
  readonly range?: RangeChoice;
  /** Calendar days of the zone of the page, both with the range. They win over `range`. */
  readonly from?: string;
  readonly to?: string;
  readonly step?: Step;
  readonly compare?: Comparison;
  /** Numbers of this episode alone. */
  readonly episode?: string;
  readonly age?: Age;
}

const oneOf = <T extends string>(value: unknown, known: readonly T[], first: T): T | undefined => {
  const found = known.find((each) => each === String(value));
  return found === first ? undefined : found;
};

/** Reads an address; what it does not know is left out, and so is what is as at first. */
export function parseAnalyticsSearch(search: Readonly<Record<string, unknown>>): AnalyticsSearch {
  const { sort, page } = parseTableSearch(search);
  const { from, to, episode } = search;
  const hasDays = isDay(from) && isDay(to) && from <= to && from >= '1970-01-01';
  const said = {
    range: hasDays ? undefined : oneOf(search['range'], rangeChoices, '30d'),
    ...(hasDays && { from, to }),
    step: steps.find((each) => each === search['step']),
    compare: oneOf(search['compare'], comparisons, 'before'),
    episode: typeof episode === 'string' && /^ep_\w+$/.test(episode) ? episode : undefined,
    age: oneOf(search['age'], ages, '7'),
    sort,
    page,
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** What an address says after a change. A range and days exclude each other; another range begins with its own step. */
export function changedAnalytics(former: AnalyticsSearch, change: AnalyticsSearch): AnalyticsSearch {
  const { range, from, to, step, ...others } = former;
  const isNewRange = 'range' in change || 'from' in change;
  const kept = isNewRange
    ? {}
    : { ...(range && { range }), ...(from && { from }), ...(to && { to }), ...(step && { step }) };
  return parseAnalyticsSearch({ ...others, ...kept, ...change });
}

/** A range of calendar days, both with it. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

const daysOfChoice: Readonly<Record<Exclude<RangeChoice, 'all'>, number>> = {
  '7d': 7,
  '30d': 30,
  '90d': 90,
  year: 365,
};

/** The first day that can be asked for: what was counted begins later. */
const firstDay = '1970-01-01';

/**
 * The days that an address names.
 * @param today in the zone of the page
 */
export function daysOf({ range = '30d', from, to }: AnalyticsSearch, today: string): DayRange {
  if (from !== undefined && to !== undefined) return { from, to: to > today ? today : to };
  if (range === 'all') return { from: firstDay, to: today };
  return { from: addDays(today, 1 - daysOfChoice[range]), to: today };
}

/** Steps in which a range is readable: from about 7 up to 400 points. The first one is that of an address without any. */
export function stepsOf({ from, to }: DayRange): readonly Step[] {
  const days = daysBetween(from, to);
  if (days <= 2) return ['hour'];
  if (days <= 14) return ['day', 'hour'];
  if (days <= 92) return ['day', 'week'];
  if (days <= 400) return ['week', 'day', 'month'];
  return ['month'];
}

/** The step of an address, where its range has it; else the first of its range. */
export function stepOf({ step }: AnalyticsSearch, days: DayRange): Step {
  const possible = stepsOf(days);
  return possible.find((each) => each === step) ?? possible[0] ?? 'day';
}

/**
 * The days to compare with; undefined where there is nothing to compare: without a beginning, when none is wanted, or when they begin before there was
 * something to count. Weeks stand beside weeks that begin on the same day: those right before a range reach back by whole weeks.
 * @param countedSince the day on which there was something to count for the first time
 */
export function daysBefore(
  { compare = 'before' }: AnalyticsSearch,
  { from, to }: DayRange,
  step: Step,
  countedSince: string,
): DayRange | undefined {
  if (compare === 'none' || from === firstDay) return undefined;
  const wanted = compare === 'year_ago' ? 365 : daysBetween(from, to);
  const weeks = compare === 'year_ago' ? Math.floor(wanted / 7) : Math.ceil(wanted / 7);
  const days = step === 'week' ? weeks * 7 : wanted;
  const before = { from: addDays(from, -days), to: addDays(to, -days) };
  return before.from < countedSince ? undefined : before;
}

/** What opens when somebody chooses a bucket: its days of the range in their own step; undefined for an hour. */
export function openedBy(date: string, step: Step, { from, to }: DayRange): AnalyticsSearch | undefined {
  if (step === 'hour') return undefined;
  const last = lastDayOf(date, step);
  return { from: date < from ? from : date, to: last > to ? to : last };
}
