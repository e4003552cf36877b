import type { PlanLineItem } from '@longwave/events';
import type { BacktestRatio, Horizon } from './interval.ts';
import type { SamplePlay } from './sample-play.ts';
import type { TrafficInputs } from './traffic-history.ts';

export interface BacktestInputs extends Omit<TrafficInputs, 'nowMs' | 'modifiers'> {
  /** Until when the history is complete. */
  readonly nowMs: number;
  /** Targetings to forecast beside podcasts, each with the sample; none without it. */
  readonly lines?: readonly PlanLineItem[];
  readonly plays?: readonly SamplePlay[];
  /** Weeks of origins, one a week; 8 unless said. */
  readonly weeks?: number;
  readonly horizons?: readonly Horizon[];
  /** Ratios of earlier backtests, for the coverage of intervals; absent: those of other origins of this run. */
  readonly earlier?: readonly BacktestRatio[];
}

/** Errors of one method; shares of the actual sum. */
export interface Accuracy {
  readonly forecasts: number;
  /** Σ |actual − forecast| ÷ Σ actual over whole horizons. */
  readonly wmape: number;
  /** The same by day. */
  readonly dailyWmape: number;
  /** Σ forecast ÷ Σ actual − 1. */
  readonly bias: number;
}

export interface BacktestRow {
  readonly kind: 'podcast' | 'release_driven' | 'targeting';
  readonly horizon: Horizon;
  readonly ours: Accuracy & {
    /** Share of actuals inside the 80 % interval. */
    readonly coverage: number;
  };
  /** The mean of the last 28 days by weekday. */
  readonly weekdayMean: Accuracy;
  /** The last 7 days again. */
  readonly lastWeek: Accuracy;
}

/** Forecasts made as of past origins, against what came; podcasts with less than 1,000 opportunities a week are left out of `rows`. */
export function backtest(_inputs: BacktestInputs): {
  readonly rows: readonly BacktestRow[];
  readonly ratios: readonly BacktestRatio[];
} {
  throw new Error('not written yet');
}
