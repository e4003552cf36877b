import { describe, expect, test } from '@jest/globals';
import { decideEpisodeRange, decideRange, episodeRangeQuery, podcastSeriesQuery } from './analytics-range.ts';

const now = new Date('2026-11-21T12:00:30.000Z');
const decide = (query: object, historyDays?: number) => decideRange(podcastSeriesQuery.parse(query), historyDays, now);
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

  test('a range that ends before it starts is refused', () => {
    expect(() => decide({ from: '2026-11-02', to: '2026-11-01' })).toThrow('The range ends before it starts.');
    expect(() => decide({ from: '2026-02-30', to: '2026-03-01' })).toThrow('Write a date');
  });

  test('days that have not begun and times before 1970 are not counted', () => {
    expect(span({ from: '2026-11-20', to: '2199-12-31', granularity: 'day' })).toBe('2026-11-20T00 2026-11-22T00 day');
    expect(span({ from: '2026-11-20', to: '9999-12-31', granularity: 'day' })).toBe('2026-11-20T00 2026-11-22T00 day');
    expect(span({ from: '1960-01-01', to: '2026-11-01' })).toBe('1970-01-01T00 2026-11-02T00 month');
    expect(span({ from: '2030-01-01', to: '2030-01-01' })).toBe('2026-11-22T00 2026-11-22T00 hour');
    expect(span({ from: '1960-01-01', to: '1965-01-01' })).toBe('1970-01-01T00 1970-01-01T00 hour');
    expect(decide({ from: '1960-01-01', to: '2026-11-01' }, 90).historyWindow?.requested_from).toBe(
      '1970-01-01T00:00:00.000Z',
    );
  });
});

describe('the range in a time zone', () => {
  const exact = (query: object, historyDays?: number) => {
    const { from, to, granularity } = decide({ ...query, time_zone: 'Asia/Kolkata' }, historyDays);
    return `${from.toISOString().slice(0, 16)} ${to.toISOString().slice(0, 16)} ${granularity}`;
  };

  test('dates are days of the zone, and so is today', () => {
    expect(exact({ from: '2026-11-01', to: '2026-11-02' })).toBe('2026-10-31T18:30 2026-11-02T18:30 hour');
    expect(exact({ days_offset: 0 })).toBe('2026-11-20T18:30 2026-11-21T18:30 hour');
    expect(exact({ days_offset: 7 })).toBe('2026-11-13T18:30 2026-11-21T18:30 day');
    expect(decide({ days_offset: 0, time_zone: 'Pacific/Auckland' }).from).toEqual(
      new Date('2026-11-21T11:00:00.000Z'),
    );
  });

  test('the future and the history are cut by the days of the zone', () => {
    expect(exact({ from: '2026-11-21', to: '2199-01-01', granularity: 'day' })).toBe(
      '2026-11-20T18:30 2026-11-21T18:30 day',
    );
    expect(exact({ days_offset: 400, granularity: 'day' }, 90)).toBe('2026-08-22T18:30 2026-11-21T18:30 day');
  });

  test('an instant stays what it is, and the day of an offset change has 25 hours', () => {
    expect(exact({ from: '2026-11-01T01:30:00+01:00', to: '2026-11-02T00:00:00Z' })).toBe(
      '2026-11-01T00:00 2026-11-02T00:00 hour',
    );
    const paris = decide({ from: '2026-10-25', to: '2026-10-25', time_zone: 'Europe/Paris' });
    expect(paris.to.getTime() - paris.from.getTime()).toBe(25 * 3_600_000);
  });

  test('an unknown zone is refused by its name', () => {
    expect(() => decide({ days_offset: 0, time_zone: 'Mars/Olympus' })).toThrow('Mars/Olympus');
  });
});

describe('the range of one episode', () => {
  const publishedAt = new Date('2026-11-10T17:45:00.000Z');
  const episode = (query: object, historyDays?: number) => {
    const { from, to, granularity } = decideEpisodeRange(episodeRangeQuery.parse(query), publishedAt, historyDays, now);
    return `${from.toISOString().slice(0, 13)} ${to.toISOString().slice(0, 13)} ${granularity}`;
  };

  test('days_since_published begins with the day of publication, includes it, and ends with today at the latest', () => {
    expect(episode({ days_since_published: 0 })).toBe('2026-11-10T00 2026-11-11T00 hour');
    expect(episode({ days_since_published: 7 })).toBe('2026-11-10T00 2026-11-18T00 day');
    expect(episode({ days_since_published: 30 })).toBe('2026-11-10T00 2026-11-22T00 day');
  });

  test('the granularity is that of what was asked for, also when the episode came out today', () => {
    const range = decideEpisodeRange(episodeRangeQuery.parse({ days_since_published: 7 }), now, undefined, now);
    expect([range.from, range.to, range.granularity]).toEqual([
      new Date('2026-11-21T00:00:00.000Z'),
      new Date('2026-11-22T00:00:00.000Z'),
      'day',
    ]);
  });

  test('the day of publication is that of the zone', () => {
    expect(episode({ days_since_published: 0, time_zone: 'Asia/Tokyo' })).toBe('2026-11-10T15 2026-11-11T15 hour');
  });

  test('an episode that says it was published before 1970 has nothing to count in those days', () => {
    const old = new Date('1938-10-30T20:00:00.000Z');
    const range = decideEpisodeRange(episodeRangeQuery.parse({ days_since_published: 7 }), old, undefined, now);
    expect([range.from, range.to]).toEqual([new Date(0), new Date(0)]);
  });

  test('it is cut to the history like any other range', () => {
    expect(episode({ days_since_published: 3 }, 9)).toBe('2026-11-12T00 2026-11-14T00 hour');
    expect(episode({ days_since_published: 3 }, 2)).toBe('2026-11-19T00 2026-11-19T00 hour');
  });

  test.each([
    [{}, 'Provide from/to or days_offset parameter(s).'],
    [{ granularity: 'day' }, 'Provide from/to or days_offset parameter(s).'],
    [{ from: '2026-11-10', days_since_published: 3 }, 'You should provide either from/to or days_offset parameter(s).'],
    [{ from: '2026-11-10' }, 'You should provide both from and to params.'],
    [{ to: '2026-11-10' }, 'You should provide both from and to params.'],
  ])('%j is refused with the documented sentence', (query, message) => {
    expect(() => episode(query)).toThrow(message);
  });
});
