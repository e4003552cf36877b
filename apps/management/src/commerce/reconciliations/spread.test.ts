import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { spread } from './spread.ts';

const weights = fc.array(fc.nat(1_000_000_000_000), { minLength: 1, maxLength: 30 });

test('shares of any total sum to it, and none is a whole unit away from its exact part', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }), weights, (total, by) => {
      const shares = spread(total, by);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(total);
      const sum = by.reduce((all, weight) => all + BigInt(weight), 0n);
      if (sum === 0n) return;
      for (const [index, share] of shares.entries()) {
        const away = BigInt(share) * sum - BigInt(total) * BigInt(by[index]!);
        expect(away < sum && -away < sum).toBe(true);
      }
    }),
  );
});

test('the units that are left go to the largest remainders, of equal ones to the first; without weights they are divided evenly', () => {
  expect(spread(10, [1, 1, 1])).toEqual([4, 3, 3]);
  expect(spread(-10, [1, 1, 1])).toEqual([-3, -3, -4]);
  expect(spread(7, [0, 3, 1])).toEqual([0, 5, 2]);
  expect(spread(5, [0, 0])).toEqual([3, 2]);
  expect(spread(5, [])).toEqual([]);
});
