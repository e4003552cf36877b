/** What a day may get of a quantity. */
export interface DayBounds {
  /** How much it gets of what is spread evenly: 1 for a whole day, less for the rest of one. */
  readonly weight: number;
  readonly min: number;
  readonly max: number;
}

const rounds = 100;
/** Two values of x that differ by less are the same. */
const closeEnough = 1e-13;

/**
 * Fills days like vessels with water: each gets `weight · x` within its bounds, with the one x for which they sum to the total. Where the
 * most they may get is less than the total each gets that; where the least is more than the total, the total is split by the least.
 */
export function fillDays(total: number, days: readonly DayBounds[]): readonly number[] {
  const mins = days.map(({ min, max }) => Math.min(min, max));
  const least = mins.reduce((sum, min) => sum + min, 0);
  if (least >= total) return mins.map((min) => (least === 0 ? 0 : (min * total) / least));
  const most = days.reduce((sum, { max }) => sum + max, 0);
  if (most <= total) return days.map(({ max }) => max);
  const at = (x: number) => days.map(({ weight, max }, day) => Math.max(mins[day]!, Math.min(max, weight * x)));
  const sumAt = (x: number) => {
    let sum = 0;
    for (let day = 0; day < days.length; day++)
      sum += Math.max(mins[day]!, Math.min(days[day]!.max, days[day]!.weight * x));
    return sum;
  };
  let [low, high] = [0, Math.max(1, total)];
  while (sumAt(high) < total && high < Number.MAX_SAFE_INTEGER) high *= 2;
  for (let round = 0; round < rounds && high - low > closeEnough * high; round++) {
    const middle = (low + high) / 2;
    if (sumAt(middle) < total) low = middle;
    else high = middle;
  }
  const quotas = at(high);
  const sum = quotas.reduce((all, quota) => all + quota, 0);
  return sum === 0 ? quotas : quotas.map((quota) => (quota * total) / sum);
}
