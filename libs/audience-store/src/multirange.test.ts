import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseMultirange, renderMultirange } from './multirange.ts';

test('intervals survive the way into a column and back', () => {
  const interval = fc.tuple(fc.nat(), fc.nat()).map(([from, length]): [number, number] => [from, from + length + 1]);
  fc.assert(
    fc.property(fc.array(interval), (intervals) => {
      expect(parseMultirange(renderMultirange(intervals))).toEqual(intervals);
    }),
  );
  expect(renderMultirange([])).toBe('{}');
});
