import { allocate, rational } from '@longwave/money';

/**
 * Divides a whole number by weights into whole numbers that sum to it, by largest remainder; of equal remainders the first is served first.
 * Without any weight it is divided evenly.
 * @param total may be negative
 */
export function spread(total: number, weights: readonly number[]): number[] {
  const positive = weights.map((weight) => BigInt(Math.max(0, weight)));
  const sum = positive.reduce((all, weight) => all + weight, 0n);
  const used = sum > 0n ? positive : weights.map(() => 1n);
  const whole = sum > 0n ? sum : BigInt(weights.length);
  // Names in the order of the weights.
  const names = weights.map((_, index) => String(index).padStart(9, '0'));
  const shares = allocate(names.map((id, index) => ({ id, exact: rational(BigInt(total) * used[index]!, whole) })));
  return names.map((name) => Number(shares.get(name)!));
}
