import type { Answer } from '../../api/queries.ts';

type Archived = Answer<'/analytics/reports_archives'>['objects'][number];
type Latest = Answer<'/analytics/reports'>['objects'][number];

/** The numbers of one podcast in one month; those of the latest months say where they come from. */
export type MonthReport = Archived & Partial<Latest>;

/** One month with the podcasts that have numbers in it. */
export interface Month {
  /** `2026-10` */
  readonly month: string;
  /** The most downloads first. */
  readonly reports: readonly MonthReport[];
}

/** Reports by month, the latest first; one that two answers have stands there once. */
export function byMonth(reports: readonly MonthReport[]): readonly Month[] {
  const months = new Map<string, Map<string, MonthReport>>();
  for (const report of reports) {
    const month = months.get(report.month) ?? new Map<string, MonthReport>();
    months.set(report.month, month.set(report.podcast_id, report));
  }
  return [...months]
    .toSorted(([a], [b]) => b.localeCompare(a))
    .map(([month, found]) => ({
      month,
      reports: [...found.values()].toSorted((a, b) => b.downloads - a.downloads || a.title.localeCompare(b.title)),
    }));
}

/** A month in words: `October 2026`. It is a month of UTC, whatever the zone of the page. */
export const monthName = (month: string, language: string): string =>
  new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month.slice(0, 7)}-01T00:00:00Z`),
  );
