import { add, compare, floor, fraction, roundHalfEven, zero, type Rational } from './rational.ts';

/** An exact amount under a name that no other amount of the same allocation has. */
export interface ExactLine {
  readonly id: string;
  readonly exact: Rational;
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Whole amounts whose sum is the exact sum, rounded once, half to even. Every line gets its floor; those with the largest remainders get one
 * more until the sum is reached, of equal remainders the one with the smaller id. So each line is less than one unit away from its exact
 * amount, and the order of the lines makes no difference.
 */
export function allocate(lines: readonly ExactLine[]): ReadonlyMap<string, bigint> {
  const total = roundHalfEven(lines.reduce((sum, { exact }) => add(sum, exact), zero));
  const floors = lines.map(({ id, exact }) => ({ id, amount: floor(exact), remainder: fraction(exact) }));
  const missing = Number(floors.reduce((rest, { amount }) => rest - amount, total));
  const raised = new Set(
    floors
      .toSorted((a, b) => compare(b.remainder, a.remainder) || byText(a.id, b.id))
      .slice(0, missing)
      .map(({ id }) => id),
  );
  return new Map(floors.map(({ id, amount }) => [id, raised.has(id) ? amount + 1n : amount]));
}
