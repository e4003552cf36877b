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
  /** `backtest`: from 30 backtests of its class at least; `prior`: from those of all classes, or of none. */
  readonly method: 'backtest' | 'prior';
}

export function volumeClassOf(_perDay: number): VolumeClass {
  throw new Error('not written yet');
}

/** @param days of the window's end from now */
export function horizonOf(_days: number): Horizon {
  throw new Error('not written yet');
}

/**
 * The 80 % interval of an estimate: the quantiles of earlier backtests, widened by the sampling error.
 * @param samplingError standard error relative to the estimate (`samplingError` of a result)
 */
export function intervalOf(
  _estimate: number,
  _of: {
    readonly perDay: number;
    readonly horizonDays: number;
    readonly backtests: readonly BacktestRatio[];
    readonly samplingError?: number;
  },
): Interval {
  throw new Error('not written yet');
}
