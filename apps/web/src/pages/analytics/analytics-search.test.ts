import { describe, expect, test } from '@jest/globals';
import {
  changedAnalytics,
  daysBefore,
  daysOf,
  openedBy,
  parseAnalyticsSearch,
  stepOf,
  stepsOf,
} from './analytics-search.ts';

const today = '2026-11-22';

describe('the address of numbers', () => {
  test.each([
    [{}, {}],
    [{ range: '30d', compare: 'before', age: '7' }, {}],
    [
      { range: '90d', step: 'week', compare: 'none', age: 30, episode: 'ep_1' },
      { range: '90d', step: 'week', compare: 'none', age: '30', episode: 'ep_1' },
    ],
    [
      { from: '2026-11-01', to: '2026-11-07', range: '7d' },
      { from: '2026-11-01', to: '2026-11-07' },
    ],
    [{ from: '2026-11-07', to: '2026-11-01' }, {}],
    [
      { from: 'soon', to: '2026-11-01', range: 'ever', step: 'year', episode: '../x', sort: '-downloads', page: 2 },
      { sort: '-downloads', page: 2 },
    ],
  ])('%j says %j', (search, said) => expect(parseAnalyticsSearch(search)).toEqual(said));

  test('says the same when it is read again', () => {
    const said = parseAnalyticsSearch({ range: 'year', step: 'month', compare: 'year_ago', age: '1' });
    expect(parseAnalyticsSearch({ ...said })).toEqual(said);
  });

  test('another range leaves the step of the former one, and keeps comparison and episode', () => {
    const former = parseAnalyticsSearch({ range: '90d', step: 'week', compare: 'none', episode: 'ep_1' });
    expect(changedAnalytics(former, { from: '2026-11-01', to: '2026-11-01' })).toEqual({
      ...{ from: '2026-11-01', to: '2026-11-01', compare: 'none', episode: 'ep_1' },
    });
    expect(changedAnalytics(former, { compare: 'before' })).toEqual({ range: '90d', step: 'week', episode: 'ep_1' });
  });
});

test('a range ends today and has its days with both ends', () => {
  expect([
    daysOf({}, today),
    daysOf({ range: '7d' }, today),
    daysOf({ from: '2026-11-01', to: '2027-01-01' }, today),
  ]).toEqual([
    { from: '2026-10-24', to: today },
    { from: '2026-11-16', to: today },
    { from: '2026-11-01', to: today },
  ]);
});

test('steps are those in which a range is readable', () => {
  const of = (range: '7d' | '30d' | 'year' | 'all') => stepsOf(daysOf({ range }, today));
  expect([of('7d'), of('30d'), of('year'), of('all')]).toEqual([
    ['day', 'hour'],
    ['day', 'week'],
    ['week', 'day', 'month'],
    ['month'],
  ]);
  expect(stepOf({ step: 'hour' }, daysOf({}, today))).toBe('day');
  expect(stepOf({ step: 'week' }, daysOf({}, today))).toBe('week');
});

test('a range compares with as many days right before it, or with the same days a year ago', () => {
  const days = daysOf({}, today);
  const since = '2020-01-01';
  expect(daysBefore({}, days, 'day', since)).toEqual({ from: '2026-09-24', to: '2026-10-23' });
  expect(daysBefore({ compare: 'year_ago' }, days, 'day', since)).toEqual({ from: '2025-10-24', to: '2025-11-22' });
  expect([
    daysBefore({ compare: 'none' }, days, 'day', since),
    daysBefore({}, daysOf({ range: 'all' }, today), 'month', since),
  ]).toEqual([undefined, undefined]);
});

test('weeks compare with weeks that begin on the same day, none of them in the range', () => {
  const days = daysOf({}, today);
  expect(daysBefore({}, days, 'week', '2020-01-01')).toEqual({ from: '2026-09-19', to: '2026-10-18' });
  expect(daysBefore({ compare: 'year_ago' }, days, 'week', '2020-01-01')).toEqual({
    ...{ from: '2025-10-25', to: '2025-11-23' },
  });
});

test('a time before there was something to count compares with nothing', () => {
  const days = daysOf({}, today);
  expect(daysBefore({}, days, 'day', '2026-09-24')).toBeDefined();
  expect(daysBefore({}, days, 'day', '2026-09-25')).toBeUndefined();
});

test('a bucket opens those of its days that the range has', () => {
  const days = daysOf({ range: '90d' }, today);
  expect(openedBy('2026-11-16', 'week', days)).toEqual({ from: '2026-11-16', to: today });
  expect(openedBy('2026-08-24', 'week', days)).toEqual({ from: '2026-08-25', to: '2026-08-30' });
  expect(openedBy('2026-10-01', 'month', days)).toEqual({ from: '2026-10-01', to: '2026-10-31' });
  expect(openedBy('2026-11-16T10:00:00.000Z', 'hour', days)).toBeUndefined();
});
