import { expect, test } from '@jest/globals';
import { growthOf, linear } from './growth-of.ts';

/** Steps that no compiler can leave out. */
function steps(count: number): number {
  let sum = 0;
  for (let at = 0; at < count; at++) sum = (sum * 31 + at) % 1_000_003;
  return sum;
}

test('linear work grows less than the bound, the square more', () => {
  expect(growthOf((size) => () => steps(size), 10_000_000)).toBeLessThan(linear);
  expect(growthOf((size) => () => steps(size * size), 8_000)).toBeGreaterThan(linear);
});
