/** Matched per day: < 100, < 1k, < 10k, more. */
export type VolumeClass = 0 | 1 | 2 | 3;

/** Days ahead: ≤ 7, ≤ 28, ≤ 90. */
export type Horizon = 7 | 28 | 90;

/** One backtest: what was forecast and what came. */
export interface BacktestRatio {
  readonly volume: VolumeClass;
  readonly horizon: Horizon;
  /** Actual ÷ forecast. */
  readonly ratio: number;
}

export interface Interval {
  readonly level: 0.8;
  readonly low: number;
  readonly high: number;
  /** `backtest`: from 30 backtests of its class at least; `prior`: from those of all classes, or from none. */
  readonly method: 'backtest' | 'prior';
}

const leastBacktests = 30;
/** Tenth and ninetieth hundredth of a normal law, for the sampling error alone. */
const tailQuantile = 1.2816;
/** Where no backtests exist at all: as wide as in the generated world's worst class. */
const priorQuantiles: Readonly<Record<Horizon, readonly [low: number, high: number]>> = {
  7: [0.7, 1.4],
  28: [0.65, 1.5],
  90: [0.5, 1.8],
};

export const volumeClassOf = (perDay: number): VolumeClass =>
  perDay < 100 ? 0 : perDay < 1000 ? 1 : perDay < 10_000 ? 2 : 3;

/** @param days from now to the end of the window */
const horizonOf = (days: number): Horizon => (days <= 7 ? 7 : days <= 28 ? 28 : 90);

/** By linear interpolation between order statistics. @param sorted ascending, not empty */
function quantileOf(sorted: readonly number[], share: number): number {
  const place = (sorted.length + 1) * share - 1;
  const below = Math.max(0, Math.min(sorted.length - 1, Math.floor(place)));
  const above = Math.min(sorted.length - 1, below + 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * Math.max(0, Math.min(1, place - below));
}

/** Quantiles of actual ÷ forecast. */
function ratiosOf(backtests: readonly BacktestRatio[], volume: VolumeClass, horizon: Horizon) {
  const sameHorizon = backtests.filter((one) => one.horizon === horizon);
  const own = sameHorizon.filter((one) => one.volume === volume);
  const method = own.length >= leastBacktests ? ('backtest' as const) : ('prior' as const);
  const chosen = method === 'backtest' ? own : sameHorizon;
  if (chosen.length < leastBacktests) return { method, quantiles: priorQuantiles[horizon] };
  const sorted = chosen.map(({ ratio }) => ratio).toSorted((a, b) => a - b);
  return { method, quantiles: [quantileOf(sorted, 0.1), quantileOf(sorted, 0.9)] as const };
}

/**
 * The 80 % interval of an estimate: the quantiles of earlier backtests, widened by the sampling error. The two are independent, so their
 * distances from the estimate add as squares, on the scale of logarithms.
 * @param of.perDay what is estimated, per day
 * @param of.horizonDays days from now to the end of the window
 * @param of.samplingError standard error relative to the estimate (`samplingError` of a result)
 */
export function intervalOf(
  estimate: number,
  of: {
    readonly perDay: number;
    readonly horizonDays: number;
    readonly backtests: readonly BacktestRatio[];
    readonly samplingError?: number;
  },
): Interval {
  const { perDay, horizonDays, backtests, samplingError = 0 } = of;
  const { method, quantiles } = ratiosOf(backtests, volumeClassOf(perDay), horizonOf(horizonDays));
  const sampled = Math.log(1 + tailQuantile * samplingError);
  const end = (quantile: number, sign: -1 | 1) => {
    const own = Math.log(Math.max(quantile, 0.01));
    if (sampled === 0) return estimate * Math.exp(own);
    // A biased past moves both ends; the sampling error widens them around it.
    const distance = Math.hypot(Math.max(0, sign * own), sampled);
    return estimate * Math.exp(sign * own > 0 ? sign * distance : own + sign * sampled);
  };
  return { level: 0.8, low: end(quantiles[0], -1), high: end(quantiles[1], 1), method };
}
