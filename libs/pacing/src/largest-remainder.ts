/**
 * Splits a whole number in proportion to weights; the parts sum to it. What rounding leaves goes to the largest remainders, of equals to the
 * first. Without any weight all parts are equal.
 */
export function splitWhole(total: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const exact = weights.map((weight) => (sum > 0 ? (total * weight) / sum : total / weights.length));
  const parts = exact.map(Math.floor);
  let left = total - parts.reduce((all, part) => all + part, 0);
  const order = exact.map((_, at) => at).sort((a, b) => exact[b]! - parts[b]! - (exact[a]! - parts[a]!) || a - b);
  for (const at of order) {
    if (left <= 0) break;
    parts[at]!++;
    left--;
  }
  return parts;
}
