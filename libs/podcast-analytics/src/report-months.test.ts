import { expect, test } from '@jest/globals';
import { monthAt } from './months.ts';
import { monthlyChange, reportMonths } from './report-months.ts';

const now = new Date('2026-11-21T12:00:00Z');
const shown = (kind: 'recent' | 'archived', begunAt: string, historyFrom?: string) => {
  const found = reportMonths(kind, new Date(begunAt), historyFrom ? Date.parse(historyFrom) : 0, now);
  return [found.months.map(({ name }) => name), found.cutFrom?.name];
};

test('the latest three finished months are reports, all before them archived', () => {
  expect(shown('recent', '2026-05-31T23:00:00Z')).toEqual([['2026-10', '2026-09', '2026-08'], undefined]);
  expect(shown('archived', '2026-05-31T23:00:00Z')).toEqual([['2026-07', '2026-06', '2026-05'], undefined]);
  expect(shown('archived', '2026-09-01T00:00:00Z')).toEqual([[], undefined]);
  expect(shown('recent', '2026-11-02T00:00:00Z')).toEqual([[], undefined]);
});

test('a month that the history cuts has no report, and the cut is named', () => {
  expect(shown('recent', '2026-05-31T23:00:00Z', '2026-08-23')).toEqual([['2026-10', '2026-09'], '2026-08']);
  expect(shown('archived', '2026-05-31T23:00:00Z', '2026-08-23')).toEqual([[], '2026-05']);
  expect(shown('recent', '2026-05-31T23:00:00Z', '2026-08-01')).toEqual([['2026-10', '2026-09', '2026-08'], undefined]);
});

test('change compares with the month before as far as the history shows it', () => {
  const counts = new Map([
    ['2026-09', 40],
    ['2026-10', 50],
  ]);
  const october = monthAt(now, -1);
  const of = (name: string) => counts.get(name);
  expect(monthlyChange(of, october, 0)).toBe(0.25);
  expect(monthlyChange(of, october, Date.parse('2026-09-02'))).toBeNull();
  expect(monthlyChange(of, monthAt(now, -2), 0)).toBeNull();
});
