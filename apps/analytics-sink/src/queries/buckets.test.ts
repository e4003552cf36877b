import { expect, test } from '@jest/globals';
import { bucketStarts, bucketStartMs } from './buckets.ts';

const ms = (text: string) => Date.parse(text);
const days = (starts: number[] | undefined) => starts?.map((at) => new Date(at).toISOString().slice(0, 10));

test('weeks begin on Monday, also across a year and before 1970', () => {
  expect(new Date(bucketStartMs(ms('2027-01-03T23:59:59Z'), 'week')).toISOString()).toBe('2026-12-28T00:00:00.000Z');
  expect(new Date(bucketStartMs(ms('2027-01-04T00:00:00Z'), 'week')).toISOString()).toBe('2027-01-04T00:00:00.000Z');
  expect(new Date(bucketStartMs(ms('1969-12-28T12:00:00Z'), 'week')).toISOString()).toBe('1969-12-22T00:00:00.000Z');
});

test('a range gives the buckets that it overlaps, and not one that begins at its end', () => {
  expect(days(bucketStarts(ms('2026-10-31T23:00Z'), ms('2026-11-02T00:00Z'), 'day', 9))).toEqual([
    '2026-10-31',
    '2026-11-01',
  ]);
  expect(days(bucketStarts(ms('2026-10-31T23:00Z'), ms('2027-02-01T00:00Z'), 'month', 9))).toEqual([
    '2026-10-01',
    '2026-11-01',
    '2026-12-01',
    '2027-01-01',
  ]);
  expect(bucketStarts(ms('2026-11-01T00:00Z'), ms('2026-11-02T00:00Z'), 'hour', 24)).toHaveLength(24);
});

test('a range with more buckets than the limit gives undefined', () => {
  expect(bucketStarts(0, ms('2026-11-01T00:00Z'), 'hour', 1000)).toBeUndefined();
});
