import { describe, expect, test } from '@jest/globals';
import {
  addDays,
  axisText,
  bucketText,
  dayIn,
  daysBetween,
  isDay,
  isUnfinished,
  lastDayOf,
  rangeText,
} from './calendar.ts';

const berlin = { zone: 'Europe/Berlin', language: 'en' };

test('the day of an instant is that of the zone', () => {
  const at = new Date('2026-11-14T23:30:00Z');
  expect([dayIn('UTC', at), dayIn('Europe/Berlin', at), dayIn('America/New_York', at)]).toEqual([
    '2026-11-14',
    '2026-11-15',
    '2026-11-14',
  ]);
});

test('days are those of a calendar, also where clocks change', () => {
  expect([addDays('2026-10-24', 2), addDays('2026-03-01', -1), daysBetween('2026-10-24', '2026-11-22')]).toEqual([
    '2026-10-26',
    '2026-02-28',
    30,
  ]);
});

test.each([
  ['2026-02-28', true],
  ['2026-02-29', false],
  ['2026-2-1', false],
  [20260201, false],
  [undefined, false],
])('%s as a day: %s', (text, is) => expect(isDay(text)).toBe(is));

test('the last day of a bucket', () => {
  expect([lastDayOf('2026-11-09', 'week'), lastDayOf('2026-02-01', 'month'), lastDayOf('2026-11-09', 'day')]).toEqual([
    '2026-11-15',
    '2026-02-28',
    '2026-11-09',
  ]);
});

describe('a bucket is unfinished while downloads may come', () => {
  const until = '2026-11-14T23:30:00Z';
  test.each([
    ['2026-11-14', 'day', 'UTC', true],
    ['2026-11-14', 'day', 'Europe/Berlin', false],
    ['2026-11-15', 'day', 'Europe/Berlin', true],
    ['2026-11-09', 'week', 'UTC', true],
    ['2026-11-02', 'week', 'UTC', false],
    ['2026-11-14T23:00:00.000Z', 'hour', 'UTC', true],
    ['2026-11-14T22:00:00.000Z', 'hour', 'UTC', false],
  ] as const)('%s (%s, %s): %s', (date, step, zone, is) => expect(isUnfinished(date, step, until, zone)).toBe(is));
});

test('buckets are named in the zone and the language', () => {
  expect(axisText('2026-11-14', 'day', berlin)).toBe('14 Nov');
  expect(axisText('2026-11-14T05:00:00.000Z', 'hour', berlin)).toBe('06:00');
  expect(bucketText('2026-11-14', 'day', berlin)).toBe('Saturday, 14 November 2026');
  expect(bucketText('2026-11-14T05:00:00.000Z', 'hour', berlin)).toBe('Saturday, 14 November 2026 at 06:00');
  expect(bucketText('2026-11-01', 'month', { ...berlin, language: 'de' })).toBe('November 2026');
  expect(bucketText('2026-11-09', 'week', berlin)).toMatch(/^9.+15 Nov 2026$/);
  expect(rangeText('2026-10-24', '2026-11-22', 'en')).toMatch(/^24 Oct.+22 Nov 2026$/);
});
