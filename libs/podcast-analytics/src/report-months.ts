import { changeSince } from './figures.ts';
import { finishedMonths, monthAt, type Month } from './months.ts';

/** Finished months that `GET /analytics/reports` shows; older ones are in the archives. */
const recentMonths = 3;

/** The finished months for which a report exists. */
export interface ReportMonths {
  /** Newest first. */
  readonly months: readonly Month[];
  /** The oldest month that would be there with an unlimited history; undefined when nothing was cut. */
  readonly cutFrom: Month | undefined;
}

/**
 * Months with reports: finished ones since its numbers began, only whole ones within the history, either the latest three or all
 * before them.
 * @param historyFromMs start of the plan's history, 0 when unlimited
 */
export function reportMonths(
  kind: 'recent' | 'archived',
  begunAt: Date,
  historyFromMs: number,
  now: Date,
): ReportMonths {
  const finished = finishedMonths(begunAt, now);
  const wanted = kind === 'recent' ? finished.slice(0, recentMonths) : finished.slice(recentMonths);
  const months = wanted.filter(({ fromMs }) => fromMs >= historyFromMs);
  return { months, cutFrom: months.length < wanted.length ? wanted.at(-1) : undefined };
}

/** Change of a month's downloads since the month before; null when that one is beyond the history or had none. */
export function monthlyChange(
  downloadsIn: (month: string) => number | undefined,
  month: Month,
  historyFromMs: number,
): number | null {
  const before = monthAt(new Date(month.fromMs), -1);
  const earlier = before.fromMs < historyFromMs ? undefined : downloadsIn(before.name);
  return changeSince(earlier, downloadsIn(month.name) ?? 0);
}
