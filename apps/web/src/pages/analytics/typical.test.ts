import { expect, test } from '@jest/globals';
import { changeFrom, isOldEnough, typicalOf } from './typical.ts';

const until = '2026-11-22T12:04:00Z';

test('an episode is old enough once the last of its first days is counted', () => {
  expect(isOldEnough('2026-11-15T23:00:00Z', 7, until)).toBe(true);
  expect(isOldEnough('2026-11-16T00:00:00Z', 7, until)).toBe(false);
  expect(isOldEnough(null, 7, until)).toBe(false);
});

test('the typical episode is the median of those that are old enough, of at least three', () => {
  const of = (...counts: number[]) => counts.map((downloads) => ({ published_at: '2026-10-01T06:00:00Z', downloads }));
  const young = { published_at: '2026-11-21T06:00:00Z', downloads: 9_000 };
  expect(typicalOf([...of(30, 10, 20), young], 7, until)).toBe(20);
  expect(typicalOf(of(10, 20, 30, 100), 7, until)).toBe(25);
  expect(typicalOf([...of(10, 20), young], 7, until)).toBeUndefined();
});

test('nothing is compared with nothing', () => {
  expect([changeFrom(12, 10), changeFrom(3, 0), changeFrom(3, undefined)]).toEqual([
    expect.closeTo(0.2),
    undefined,
    undefined,
  ]);
});
