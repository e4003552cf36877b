import { describe, expect, test } from '@jest/globals';
import { decideRange, podcastRangeQuery } from './analytics-range.ts';

const now = new Date('2026-11-21T12:00:30.000Z');
const decide = (query: object, historyDays?: number) => decideRange(podcastRangeQuery.parse(query), historyDays, now);
const span = (query: object, historyDays?: number) => {
  const { from, to, granularity } = decide(query, historyDays);
  return `${from.toISOString().slice(0, 13)} ${to.toISOString().slice(0, 13)} ${granularity}`;
};

describe('the range of analytics', () => {
  test('days_offset counts back from the start of today and includes today', () => {
    expect(span({ days_offset: 0 })).toBe('2026-11-21T00 2026-11-22T00 hour');
    expect(span({ days_offset: 7 })).toBe('2026-11-14T00 2026-11-22T00 day');
  });

  test('a date as end includes its day; an instant is an exact end, grown to the whole hour', () => {
    expect(span({ from: '2026-11-01', to: '2026-11-01' })).toBe('2026-11-01T00 2026-11-02T00 hour');
    expect(span({ from: '2026-11-01T01:30:00+01:00', to: '2026-11-01T02:30:00Z' })).toBe(
      '2026-11-01T00 2026-11-01T03 hour',
    );
  });

  test.each([
    [2, 'hour'],
    [3, 'day'],
    [92, 'day'],
    [93, 'week'],
    [400, 'week'],
    [401, 'month'],
  ])('a range of %i days without a granularity is counted by the %s', (days, granularity) => {
    expect(decide({ days_offset: days - 1 }).granularity).toBe(granularity);
  });

  test('a named granularity holds', () => {
    expect(decide({ days_offset: 400, granularity: 'hour' }).granularity).toBe('hour');
  });

  test('a range inside the history is not cut, and one day more is', () => {
    expect(decide({ days_offset: 90 }, 90).historyWindow).toBeUndefined();
    expect(decide({ days_offset: 91 }, 90)).toMatchObject({
      from: new Date('2026-08-23T00:00:00.000Z'),
      historyWindow: { from: '2026-08-23T00:00:00.000Z', requested_from: '2026-08-22T00:00:00.000Z', days: 90 },
    });
    expect(decide({ days_offset: 20_000 }).historyWindow).toBeUndefined();
  });

  test('a range that ends before it starts, or lies outside the calendar, is refused', () => {
    expect(() => decide({ from: '2026-11-02', to: '2026-11-01' })).toThrow('The range ends before it starts.');
    expect(() => decide({ from: '1969-12-31', to: '2026-11-01' })).toThrow('between 1970 and 2199');
    expect(() => decide({ from: '2026-11-01', to: '9999-12-31' })).toThrow('between 1970 and 2199');
    expect(() => decide({ from: '2026-02-30', to: '2026-03-01' })).toThrow('expected a date');
  });
});
