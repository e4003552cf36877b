import { fieldsOf } from '../form/zone-time.ts';
import { localeOf, type TimePlace } from '../format.ts';

/** How long a bucket of numbers over time is. */
export type Step = 'hour' | 'day' | 'week' | 'month';

const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** The calendar day of an instant in a zone: `2026-11-14`. */
export const dayIn = (zone: string, at: Date): string => fieldsOf(at.toISOString(), zone).day;

/** A calendar day so many days later. Days of a calendar have no zone: a change of clocks moves none of them. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

/** How many days a range of calendar days has, with both of its ends. */
export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs + 1;

/** Whether a text is a calendar day. */
export const isDay = (text: unknown): text is string =>
  typeof text === 'string' &&
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  addDays(text, 0) === text;

/** The last calendar day of a bucket that begins on one. */
export function lastDayOf(date: string, step: Step): string {
  if (step === 'week') return addDays(date, 6);
  if (step !== 'month') return date.slice(0, 10);
  const first = new Date(date);
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
}

/**
 * Whether a bucket may still grow: it ends after everything was counted.
 * @param date its start as answers name it: an instant for an hour, else a day of the zone
 * @param completeUntil instant up to which everything is counted
 */
export const isUnfinished = (date: string, step: Step, completeUntil: string, zone: string): boolean =>
  step === 'hour'
    ? Date.parse(date) + hourMs > Date.parse(completeUntil)
    : lastDayOf(date, step) >= dayIn(zone, new Date(completeUntil));

const format = (language: string, zone: string, options: Intl.DateTimeFormatOptions, at: string) =>
  new Intl.DateTimeFormat(localeOf(language), { ...options, timeZone: zone }).format(new Date(at));

/** A bucket for an axis: `14 Nov`, `06:00`, `Nov 2026`. */
export function axisText(date: string, step: Step, { zone, language }: TimePlace): string {
  if (step === 'hour') return format(language, zone, { hour: '2-digit', minute: '2-digit' }, date);
  const options =
    step === 'month' ? ({ month: 'short', year: 'numeric' } as const) : ({ day: 'numeric', month: 'short' } as const);
  return format(language, 'UTC', options, date);
}

/** A range of calendar days in words: `24 Oct – 22 Nov 2026`. */
export const rangeText = (from: string, to: string, language: string): string =>
  new Intl.DateTimeFormat(localeOf(language), {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    timeZone: 'UTC',
  }).formatRange(new Date(from), new Date(to));

/** A bucket in full, as it is read aloud: `Saturday 14 November 2026`, `9 – 15 Nov 2026`. */
export function bucketText(date: string, step: Step, { zone, language }: TimePlace): string {
  const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
  if (step === 'hour') return format(language, zone, { ...day, hour: '2-digit', minute: '2-digit' }, date);
  if (step === 'day') return format(language, 'UTC', day, date);
  if (step === 'month') return format(language, 'UTC', { month: 'long', year: 'numeric' }, date);
  return rangeText(date, lastDayOf(date, step), language);
}
