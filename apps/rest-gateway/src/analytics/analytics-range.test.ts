import { describe, expect, test } from '@jest/globals';
import { decideEpisodeRange, decideRange, episodeRangeQuery, podcastRangeQuery } from './analytics-range.ts';

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
    expect(decide({ days_offset: 36_500 }, 90).historyWindow?.requested_from).toBe('1970-01-01T00:00:00.000Z');
  });

  test('a range that ends before it starts, or lies outside the calendar, is refused', () => {
    expect(() => decide({ from: '2026-11-02', to: '2026-11-01' })).toThrow('The range ends before it starts.');
    expect(() => decide({ from: '1969-12-31', to: '2026-11-01' })).toThrow('between 1970 and 2199');
    expect(() => decide({ from: '2026-11-01', to: '9999-12-31' })).toThrow('between 1970 and 2199');
    expect(() => decide({ from: '2026-02-30', to: '2026-03-01' })).toThrow('expected a date');
  });
});

describe('the range of one episode', () => {
  const publishedAt = new Date('2026-11-10T17:45:00.000Z');
  const episode = (query: object, historyDays?: number) => {
    const { from, to, granularity } = decideEpisodeRange(episodeRangeQuery.parse(query), publishedAt, historyDays, now);
    return `${from.toISOString().slice(0, 13)} ${to.toISOString().slice(0, 13)} ${granularity}`;
  };

  test('days_since_published begins with the day of publication, includes it, and may reach into the future', () => {
    expect(episode({ days_since_published: 0 })).toBe('2026-11-10T00 2026-11-11T00 hour');
    expect(episode({ days_since_published: 7 })).toBe('2026-11-10T00 2026-11-18T00 day');
    expect(episode({ days_since_published: 30 })).toBe('2026-11-10T00 2026-12-11T00 day');
  });

  test('it is cut to the history like any other range', () => {
    expect(episode({ days_since_published: 3 }, 9)).toBe('2026-11-12T00 2026-11-14T00 hour');
    expect(episode({ days_since_published: 3 }, 2)).toBe('2026-11-19T00 2026-11-19T00 hour');
  });

  test.each([
    [{}, 'Provide from/to or days_since_published parameter(s).'],
    [{ granularity: 'day' }, 'Provide from/to or days_since_published parameter(s).'],
    [
      { from: '2026-11-10', days_since_published: 3 },
      'You should provide either from/to or days_since_published parameter(s).',
    ],
    [{ from: '2026-11-10' }, 'You should provide both from and to params.'],
    [{ to: '2026-11-10' }, 'You should provide both from and to params.'],
  ])('%j is refused in the words of the contract', (query, message) => {
    expect(() => episode(query)).toThrow(message);
  });
});
