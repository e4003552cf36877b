import { localeOf, type TimePlace } from './format.ts';

/** The days of a half-open period in a zone: `1–30 Nov 2026`. A zone that the browser does not know is shown in UTC. */
export function periodText(start: string, end: string, { zone, language }: TimePlace): string {
  const [from, to] = [new Date(start), new Date(Math.max(Date.parse(start), Date.parse(end) - 1))];
  const form = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  const text = (timeZone: string) =>
    new Intl.DateTimeFormat(localeOf(language), { ...form, timeZone }).formatRange(from, to);
  try {
    return text(zone);
  } catch {
    return text('UTC');
  }
}
