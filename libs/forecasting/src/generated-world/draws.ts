/** Taken once: looking them up in every draw is dear in a test's context. */
const { imul, log, exp, sqrt, cos, round, floor, max, PI } = Math;

/** Numbers that look random and are the same for the same seed. */
export interface Draws {
  /** Even in [0, 1). */
  readonly unit: () => number;
  readonly below: (count: number) => number;
  readonly pick: <T>(values: readonly T[]) => T;
  readonly often: (share: number) => boolean;
  /** Mean 0, standard deviation 1. */
  readonly normal: () => number;
  readonly poisson: (mean: number) => number;
}

/** mulberry32. */
export function createDraws(seed: number): Draws {
  let state = seed | 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = imul(state ^ (state >>> 15), 1 | state);
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => sqrt(-2 * log(1 - unit())) * cos(2 * PI * unit());
  const below = (count: number) => floor(unit() * count);
  return {
    unit,
    below,
    pick: <T>(values: readonly T[]) => values[below(values.length)]!,
    often: (share) => unit() < share,
    normal,
    poisson: (mean) => {
      if (mean > 50) return max(0, round(mean + sqrt(mean) * normal()));
      const limit = exp(-mean);
      let count = 0;
      for (let product = unit(); product > limit; product *= unit()) count++;
      return count;
    },
  };
}
