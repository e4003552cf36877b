/** An exact number: numerator divided by a positive denominator, in lowest terms. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b));

/** The quotient of two whole numbers. Throws `RangeError` unless the denominator is positive. */
export function rational(numerator: bigint, denominator = 1n): Rational {
  if (denominator <= 0n) throw new RangeError(`${denominator} is no denominator`);
  const divisor = gcd(numerator, denominator);
  return divisor === 1n
    ? { numerator, denominator }
    : { numerator: numerator / divisor, denominator: denominator / divisor };
}

export const zero: Rational = { numerator: 0n, denominator: 1n };

export const add = (a: Rational, b: Rational): Rational =>
  rational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);

/** The number divided by a positive whole number. */
export const divide = ({ numerator, denominator }: Rational, divisor: bigint): Rational =>
  rational(numerator, denominator * divisor);

/** Negative, 0 or positive, as the first number is less than, equal to or greater than the second. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The greatest whole number that is not above it: −2 of −1.5. */
export function floor({ numerator, denominator }: Rational): bigint {
  const truncated = numerator / denominator;
  return numerator < 0n && numerator % denominator !== 0n ? truncated - 1n : truncated;
}

/** What the number has beyond its floor: at least 0, below 1. */
export const fraction = (value: Rational): Rational => add(value, rational(-floor(value)));

/** The nearest whole number; of two equally near ones the even one (IEEE 754, roundTiesToEven). */
export function roundHalfEven(value: Rational): bigint {
  const lower = floor(value);
  const toHalf = compare(fraction(value), rational(1n, 2n));
  return toHalf < 0 || (toHalf === 0 && lower % 2n === 0n) ? lower : lower + 1n;
}
