import type { PlanLineItem } from '@longwave/events';
import {
  baselineDays,
  freshShare,
  lastWeek,
  lineDays,
  podcastDays,
  sumDays,
  weekdayMean,
  type DaySeries,
} from './backtest-days.ts';
import { hourMs } from './curve-sums.ts';
import { expectedHours } from './expected-hours.ts';
import { fitTraffic } from './fit-traffic.ts';
import { fittingHoursOf, forecastTraffic } from './forecast-traffic.ts';
import { intervalOf, volumeClassOf, type BacktestRatio, type Horizon } from './interval.ts';
import { createLocalTime } from './local-time.ts';
import type { SamplePlay } from './sample-play.ts';
import type { TrafficInputs } from './traffic-history.ts';
import type { TrafficModel } from './traffic-model.ts';

export interface BacktestInputs extends Omit<TrafficInputs, 'nowMs' | 'modifiers'> {
  /** Until when the history is complete. */
  readonly nowMs: number;
  /** Targetings to forecast beside podcasts, each with the sample; none without it. */
  readonly lines?: readonly PlanLineItem[];
  /** Of the 28 days before the first origin until `nowMs`. */
  readonly plays?: readonly SamplePlay[];
  /** Origins, one a week; 8 unless said. */
  readonly weeks?: number;
  /** 7 and 28 days unless said. */
  readonly horizons?: readonly Horizon[];
  /** Ratios of earlier backtests, for the coverage of intervals; absent: those of the other origins of this run. */
  readonly earlier?: readonly BacktestRatio[];
}

/** Errors of one method; shares of the actual sum. */
interface Accuracy {
  /** Σ |actual − forecast| ÷ Σ actual, over whole horizons. */
  readonly wmape: number;
  /** The same over days. */
  readonly dailyWmape: number;
  /** Σ forecast ÷ Σ actual − 1. */
  readonly bias: number;
}

export interface BacktestRow {
  /** Podcasts of 1,000 opportunities a week or more; those with half of their traffic from episodes of the week; targetings of 1 % of the traffic or more. */
  readonly kind: 'podcast' | 'release_driven' | 'targeting';
  readonly horizon: Horizon;
  readonly forecasts: number;
  readonly ours: Accuracy & {
    /** Share of actuals inside the 80 % interval. */
    readonly coverage: number;
  };
  /** The mean of the last 28 days by weekday. */
  readonly weekdayMean: Accuracy;
  /** The last 7 days again. */
  readonly lastWeek: Accuracy;
}

/** One forecast of one subject as of one origin, with what came. */
interface Trial {
  readonly kinds: readonly BacktestRow['kind'][];
  readonly horizon: Horizon;
  readonly originMs: number;
  readonly actual: Float64Array;
  readonly methods: Readonly<Record<'ours' | 'weekdayMean' | 'lastWeek', Float64Array>>;
}

const dayMs = 24 * hourMs;
const leastPerWeek = 1000;
const leastShare = 0.01;

function trialOf(
  kinds: Trial['kinds'],
  horizon: Horizon,
  originMs: number,
  days: DaySeries,
  ours: Float64Array,
): Trial {
  const actual = days.slice(baselineDays);
  return {
    ...{ kinds, horizon, originMs, actual },
    methods: { ours, weekdayMean: weekdayMean(days, horizon), lastWeek: lastWeek(days, horizon) },
  };
}

const daysOf = (hours: Float64Array, horizon: Horizon) =>
  Float64Array.from({ length: horizon }, (_, day) => sumDays(hours, day * 24, day * 24 + 24));

function podcastTrials(inputs: BacktestInputs, model: TrafficModel, horizon: Horizon, originMs: number): Trial[] {
  return inputs.podcasts.flatMap((history) => {
    const days = podcastDays(history, originMs, horizon);
    const curves = model.podcasts.get(history.podcastId)!;
    if (sumDays(days, 0, baselineDays) < 4 * leastPerWeek) return [];
    const hours = expectedHours(model, curves, { fromMs: originMs, toMs: originMs + horizon * dayMs });
    const ours = daysOf(hours, horizon);
    const kinds =
      freshShare(history, originMs) >= 0.5 ? (['podcast', 'release_driven'] as const) : (['podcast'] as const);
    return [trialOf(kinds, horizon, originMs, days, ours)];
  });
}

function lineTrials(inputs: BacktestInputs, model: TrafficModel, horizon: Horizon, originMs: number): Trial[] {
  const { lines = [], plays = [] } = inputs;
  if (lines.length === 0 || plays.length === 0) return [];
  const before = plays.filter(({ atMs }) => atMs < originMs && atMs >= originMs - baselineDays * dayMs);
  const window = { fromMs: originMs, toMs: originMs + horizon * dayMs };
  const all = forecastTraffic({ model, window }).opportunities;
  const series = lineDays(lines, plays, originMs, horizon);
  return fittingHoursOf(lines, { model, plays: before, window }, 'shareOf').flatMap((hours, at) => {
    if (sumDays(hours) < leastShare * all) return [];
    return [trialOf(['targeting'], horizon, originMs, series[at]!, daysOf(hours, horizon))];
  });
}

function accuracyOf(trials: readonly Trial[], method: keyof Trial['methods']): Accuracy {
  let [actual, forecast, error, dailyError] = [0, 0, 0, 0];
  for (const trial of trials) {
    const days = trial.methods[method];
    actual += sumDays(trial.actual);
    forecast += sumDays(days);
    error += Math.abs(sumDays(trial.actual) - sumDays(days));
    trial.actual.forEach((one, day) => (dailyError += Math.abs(one - days[day]!)));
  }
  return { wmape: error / actual, dailyWmape: dailyError / actual, bias: forecast / actual - 1 };
}

const perDayOf = ({ methods: { ours }, horizon }: Trial) => sumDays(ours) / horizon;

const ratioOf = (trial: Trial): BacktestRatio => ({
  volume: volumeClassOf(perDayOf(trial)),
  horizon: trial.horizon,
  ratio: sumDays(trial.actual) / sumDays(trial.methods.ours),
});

/** Share of actuals inside the interval that other backtests give. */
function coverageOf(trials: readonly Trial[], all: readonly Trial[], earlier: readonly BacktestRatio[] | undefined) {
  const byOrigin = new Map<number, readonly BacktestRatio[]>();
  const known = (originMs: number) => {
    if (earlier) return earlier;
    const found = byOrigin.get(originMs) ?? all.filter((one) => one.originMs !== originMs).map(ratioOf);
    byOrigin.set(originMs, found);
    return found;
  };
  const inside = trials.filter((trial) => {
    const { horizon, originMs, actual, methods } = trial;
    const of = { perDay: perDayOf(trial), horizonDays: horizon, backtests: known(originMs) };
    const { low, high } = intervalOf(sumDays(methods.ours), of);
    const came = sumDays(actual);
    return came >= low && came <= high;
  });
  return inside.length / trials.length;
}

function rowsOf(trials: readonly Trial[], earlier: readonly BacktestRatio[] | undefined): readonly BacktestRow[] {
  const kinds = ['podcast', 'release_driven', 'targeting'] as const;
  const horizons = [...new Set(trials.map(({ horizon }) => horizon))];
  return kinds.flatMap((kind) =>
    horizons.flatMap((horizon): BacktestRow[] => {
      const own = trials.filter((one) => one.horizon === horizon && one.kinds.includes(kind));
      if (own.length === 0) return [];
      const peers = trials.filter((one) => one.kinds.includes('targeting') === (kind === 'targeting'));
      return [
        {
          ...{ kind, horizon, forecasts: own.length },
          ours: { ...accuracyOf(own, 'ours'), coverage: coverageOf(own, peers, earlier) },
          weekdayMean: accuracyOf(own, 'weekdayMean'),
          lastWeek: accuracyOf(own, 'lastWeek'),
        },
      ];
    }),
  );
}

/** Forecasts as they would have been made at past origins, one a week at a local midnight, against what came and against two baselines. */
export function backtest(inputs: BacktestInputs): {
  readonly rows: readonly BacktestRow[];
  readonly ratios: readonly BacktestRatio[];
} {
  const { nowMs, timeZone, podcasts, weeks = 8, horizons = [7, 28], earlier } = inputs;
  const { dayStartOf } = createLocalTime(timeZone);
  const origins = new Map<number, Horizon[]>();
  for (const horizon of horizons)
    for (let week = 0; week < weeks; week++) {
      const originMs = dayStartOf(nowMs - (horizon + week * 7) * dayMs);
      origins.set(originMs, [...(origins.get(originMs) ?? []), horizon]);
    }
  const trials = [...origins].flatMap(([originMs, own]) => {
    const model = fitTraffic({ nowMs: originMs, timeZone, podcasts });
    return own.flatMap((horizon) => [
      ...podcastTrials(inputs, model, horizon, originMs),
      ...lineTrials(inputs, model, horizon, originMs),
    ]);
  });
  const hasForecast = ({ methods: { ours } }: Trial) => sumDays(ours) > 0;
  return { rows: rowsOf(trials, earlier), ratios: trials.filter(hasForecast).map(ratioOf) };
}
