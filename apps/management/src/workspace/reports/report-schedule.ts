import { daysOf, type Days } from '@longwave/podcast-analytics/zoned-days';
import type { ReportDefinition } from './report.ts';

export type Schedule = NonNullable<ReportDefinition['schedule']>;

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** The first day of the month that a day lies in, or of one of the months around it. */
function monthStart(day: number, months = 0): number {
  const date = new Date(day * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) / dayMs;
}

/** The first day of the period that a day lies in. */
function periodStart(every: Schedule['every'], day: number): number {
  if (every === 'month') return monthStart(day);
  // 1970-01-01 was a Thursday, three days after its week began.
  return every === 'day' ? day : day - ((((day + 3) % 7) + 7) % 7);
}

/** The first day of the period after the one that begins with a day. */
const nextPeriod = (every: Schedule['every'], start: number): number =>
  every === 'month' ? monthStart(start, 1) : start + (every === 'day' ? 1 : 7);

const runMs = (days: Days, { hour }: Schedule, start: number) => days.startMs(start) + hour * hourMs;

/** The first time after an instant at which a schedule makes a run, by the calendar of a zone. */
export function nextRunAt(schedule: Schedule, timeZone: string, after: Date): Date {
  const days = daysOf(timeZone);
  let start = periodStart(schedule.every, days.dayAt(after.getTime()));
  while (runMs(days, schedule, start) <= after.getTime()) start = nextPeriod(schedule.every, start);
  return new Date(runMs(days, schedule, start));
}

/** The whole period before the one in which a schedule makes a run at a time. */
export function lastPeriod(
  schedule: Schedule,
  timeZone: string,
  at: Date,
): { readonly start: Date; readonly end: Date } {
  const days = daysOf(timeZone);
  const end = periodStart(schedule.every, days.dayAt(at.getTime() - schedule.hour * hourMs));
  return {
    start: new Date(days.startMs(periodStart(schedule.every, end - 1))),
    end: new Date(days.startMs(end)),
  };
}
