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
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());
  const below = (count: number) => Math.floor(unit() * count);
  return {
    unit,
    below,
    pick: <T>(values: readonly T[]) => values[below(values.length)]!,
    often: (share) => unit() < share,
    normal,
    poisson: (mean) => {
      if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
      const limit = Math.exp(-mean);
      let count = 0;
      for (let product = unit(); product > limit; product *= unit()) count++;
      return count;
    },
  };
}
