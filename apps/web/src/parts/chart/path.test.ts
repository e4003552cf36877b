import { expect, test } from '@jest/globals';
import { areaPath, linePath, sparkPlaces, spread } from './path.ts';

test('a line goes from place to place, and begins anew after a gap', () => {
  const [a, b] = [
    { x: 0, y: 1 },
    { x: 2.04, y: 3.26 },
  ];
  expect(linePath([a, b])).toBe('M0,1L2,3.3');
  expect(linePath([a, undefined, b])).toBe('M0,1M2,3.3');
  expect(linePath([])).toBe('');
});

test('an area is closed at its base line', () => {
  const places = [
    { x: 0, y: 1 },
    { x: 4, y: 2 },
  ];
  expect(areaPath(places, 10)).toBe('M0,1L4,2L4,10L0,10Z');
  expect(areaPath([], 10)).toBe('');
});

test('values lie evenly, one alone in the middle', () => {
  expect([spread(3, 10, 30), spread(1, 10, 30), spread(0, 10, 30)]).toEqual([[10, 20, 30], [20], []]);
});

test('a spark line begins at 0 also where nothing was counted', () => {
  expect(sparkPlaces([0, 0], 10, 8).map(({ y }) => y)).toEqual([7, 7]);
  expect(sparkPlaces([0, 5, 10], 10, 8).map(({ y }) => y)).toEqual([7, 4, 1]);
});
