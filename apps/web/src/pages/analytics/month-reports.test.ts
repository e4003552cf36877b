import { expect, test } from '@jest/globals';
import { byMonth, monthName, type MonthReport } from './month-reports.ts';

const report = (month: string, podcast_id: string, downloads: number): MonthReport => ({
  ...{ month, podcast_id, title: podcast_id, downloads, listeners: 1, change: null },
  ...{ top_episodes: [], top_countries: [] },
});

test('reports stand by month, the latest first, in each the most heard podcast; one that was answered twice stands there once', () => {
  const found = byMonth([
    ...[report('2026-09', 'pod_a', 3), report('2026-10', 'pod_a', 5), report('2026-10', 'pod_b', 9)],
    report('2026-09', 'pod_a', 3),
  ]);
  expect(found.map(({ month, reports }) => [month, reports.map(({ podcast_id }) => podcast_id)])).toEqual([
    ['2026-10', ['pod_b', 'pod_a']],
    ['2026-09', ['pod_a']],
  ]);
});

test('a month is named as one of UTC, in the language of the page', () => {
  expect(monthName('2026-10', 'en')).toBe('October 2026');
  expect(monthName('2026-01', 'de')).toBe('Januar 2026');
});
