import { expect, test } from '@jest/globals';
import { chartOf, endBefore, shortName, totalOf, wallOf, type Series } from './series-data.ts';

const berlin = { zone: 'Europe/Berlin', language: 'en' };
const names = { own: 'Downloads', before: 'before' };
const of = (counts: Readonly<Record<string, number>>, more: Partial<Series['meta']> = {}): Series => ({
  meta: {
    timerange: { from: '2026-11-19T23:00:00Z', to: '2026-11-22T23:00:00Z' },
    ...{ aggregation_granularity: 'day', window: 'calendar_utc', methodology_version: '1' },
    ...{ complete_until: '2026-11-22T12:04:00Z', provisional_from: '2026-11-21T00:00:00Z' },
    ...more,
  },
  objects: Object.entries(counts).map(([date, downloads]) => ({ date, downloads, listeners: downloads })),
});
const three = of({ '2026-11-20': 4, '2026-11-21': 9, '2026-11-22': 2 });

test('a point has its day, its value and that of the time before; the day that is not over is unfinished', () => {
  const episodes = [{ at: '2026-11-20T23:30:00Z', place: 'S2 E14' }];
  const { series, points } = chartOf(three, of({ '2026-10-21': 3, '2026-10-22': 7 }), episodes, names, false, berlin);
  expect(series.map(({ look }) => look)).toEqual(['own', 'before']);
  expect(points.map(({ key, values, isUnfinished, mark }) => [key, values, isUnfinished, mark])).toEqual([
    ['2026-11-20', [4, 3], false, undefined],
    ['2026-11-21', [9, 7], false, 'S2 E14'],
    ['2026-11-22', [2, undefined], true, undefined],
  ]);
  expect(totalOf(three)).toBe(15);
});

test('a range without a beginning starts with the first download, and behind a wall nothing is left out', () => {
  const months = { '2026-09-01': 0, '2026-10-01': 3, '2026-11-01': 0 };
  const first = (series: Series) => chartOf(series, undefined, [], names, true, berlin).points[0]?.key;
  expect(first(of(months, { aggregation_granularity: 'month' }))).toBe('2026-10-01');
  const history_window = { from: '2026-09-01T00:00:00Z', requested_from: '1970-01-01T00:00:00Z', days: 90 };
  expect(first(of(months, { aggregation_granularity: 'month', history_window }))).toBe('2026-09-01');
});

test('the wall is as wide as what the plan does not show', () => {
  const history_window = { from: '2026-08-24T00:00:00Z', requested_from: '2026-05-26T00:00:00Z', days: 90 };
  const timerange = { from: '2026-08-24T00:00:00Z', to: '2026-11-22T00:00:00Z' };
  expect(wallOf(of({}, { history_window, timerange }).meta)).toEqual({ share: 0.5 });
  expect(wallOf(three.meta)).toBeUndefined();
});

test('days that are not over compare with the same part of those before', () => {
  expect(endBefore(three.meta, '2026-10-23', 30, 'UTC')).toBe('2026-10-23');
  const meta = { ...three.meta, incomplete_from: '2026-11-22T12:00:00.000Z' };
  expect(endBefore(meta, '2026-10-23', 30, 'UTC')).toBe('2026-10-23T13:00:00.000Z');
});

test.each([
  // 18:00 in New York is 23:00 of UTC, 19:00 is the next day there.
  ['America/New_York', '2026-11-22T23:00:00.000Z', '2026-11-15', 7, '2026-11-16T00:00:00.000Z'],
  ['America/Los_Angeles', '2026-11-23T05:00:00.000Z', '2026-11-15', 7, '2026-11-16T06:00:00.000Z'],
  // Clocks of Berlin went back on 25 October: 13:00 was an hour earlier in UTC.
  ['Europe/Berlin', '2026-11-22T11:00:00.000Z', '2026-10-23', 30, '2026-10-23T11:00:00.000Z'],
])('in %s what is counted to %s compares to the same time on the clock', (zone, from, to, days, end) => {
  expect(endBefore({ ...three.meta, incomplete_from: from }, to, days, zone)).toBe(end);
});

test('a time that clocks jump over is an hour later, and one that they show twice is the first', () => {
  const end = (from: string, to: string) => endBefore({ ...three.meta, incomplete_from: from }, to, 7, 'Europe/Berlin');
  expect(end('2026-04-04T23:30:00.000Z', '2026-03-29')).toBe('2026-03-29T01:30:00.000Z');
  expect(end('2026-11-01T00:30:00.000Z', '2026-10-25')).toBe('2026-10-25T00:30:00.000Z');
  expect(end('2026-11-22T22:00:00.000Z', '2026-11-15')).toBe('2026-11-15');
});

test('a week of which the range has a part is named by its days, and marked', () => {
  const timerange = { from: '2026-10-21T22:00:00Z', to: '2026-11-05T23:00:00Z' };
  const weeks = { '2026-10-19': 1, '2026-10-26': 2, '2026-11-02': 3 };
  const { points } = chartOf(
    of(weeks, { aggregation_granularity: 'week', timerange }),
    ...([undefined, [], names, false, berlin] as const),
  );
  // `Intl` separates a range by thin spaces.
  expect(points.map(({ key, title, isPart }) => [key, title.replaceAll('\u2009', ' '), isPart])).toEqual([
    ['2026-10-19', '22 – 25 Oct 2026', true],
    ['2026-10-26', '26 Oct – 1 Nov 2026', undefined],
    ['2026-11-02', '2 – 5 Nov 2026', true],
  ]);
});

test('an episode has little room on a chart: its number, or the beginning of its title, and how many more came with it', () => {
  expect([shortName(2, 14, 'Fog'), shortName(undefined, undefined, 'Fog signals')]).toEqual(['S2 E14', 'Fog signals']);
  expect(shortName(undefined, undefined, 'The lamp that would not go out')).toBe('The lamp that…');
  const episodes = [
    { at: '2026-11-21T09:00:00Z', place: 'S2 E15' },
    { at: '2026-11-21T06:00:00+02:00', place: 'S2 E14' },
  ];
  expect(chartOf(three, undefined, episodes, names, false, berlin).points[1]?.mark).toBe('S2 E14 +1');
});
