import { expect, test } from '@jest/globals';
import { periodText } from './period-text.ts';

const november = ['2026-10-31T23:00:00Z', '2026-11-30T23:00:00Z'] as const;

test('a period is named by its first and last day in its own zone, and ends before its end', () => {
  const text = periodText(...november, { zone: 'Europe/Berlin', language: 'en' });
  expect(text.replaceAll(/\s/g, '')).toBe('1–30Nov2026');
});

test('of one day there is one day, and a zone that nobody knows does not stop the page', () => {
  const place = { zone: 'Nowhere/Here', language: 'en' };
  expect(periodText('2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', place)).toBe('1 Nov 2026');
});
