import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { allocate } from './allocate.ts';
import { add, compare, rational, roundHalfEven, zero, type Rational } from './rational.ts';

const amounts: fc.Arbitrary<Rational> = fc
  .tuple(fc.bigInt(-(10n ** 15n), 10n ** 15n), fc.bigInt(1n, 10n ** 6n))
  .map(([numerator, denominator]) => rational(numerator, denominator));
const lines = fc
  .uniqueArray(fc.tuple(fc.string({ minLength: 1 }), amounts), { selector: ([id]) => id, maxLength: 40 })
  .map((entries) => entries.map(([id, exact]) => ({ id, exact })));

test('halves are rounded to the even number, on both sides of zero', () => {
  const halves = [-5n, -3n, -1n, 1n, 3n, 5n].map((numerator) => roundHalfEven(rational(numerator, 2n)));
  expect(halves).toEqual([-2n, -2n, 0n, 0n, 2n, 2n]);
  expect([rational(-7n, 4n), rational(7n, 4n), rational(5n, 4n)].map(roundHalfEven)).toEqual([-2n, 2n, 1n]);
});

test('allocated amounts sum to the rounded sum, and each is less than one unit off its exact amount', () => {
  fc.assert(
    fc.property(lines, (given) => {
      const allocated = allocate(given);
      const sum = [...allocated.values()].reduce((total, amount) => total + amount, 0n);
      expect(sum).toBe(roundHalfEven(given.reduce((total, { exact }) => add(total, exact), zero)));
      for (const { id, exact } of given) {
        const off = add(exact, rational(-allocated.get(id)!));
        expect(compare(off, rational(1n)) < 0 && compare(off, rational(-1n)) > 0).toBe(true);
      }
    }),
  );
});

test('the order of the lines makes no difference', () => {
  fc.assert(
    fc.property(
      lines.chain((given) =>
        fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length, maxLength: given.length })),
      ),
      ([given, shuffled]) => {
        const other = allocate(shuffled);
        for (const [id, amount] of allocate(given)) expect(other.get(id)).toBe(amount);
      },
    ),
  );
});

test('of equal remainders the smaller id gets the missing unit', () => {
  const third = rational(1n, 3n);
  const allocated = allocate(['li_c', 'li_a', 'li_b'].map((id) => ({ id, exact: third })));
  expect(Object.fromEntries(allocated)).toEqual({ li_a: 1n, li_b: 0n, li_c: 0n });
});
