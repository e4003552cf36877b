import { intervalOf, type Interval, type TimeRange } from '@longwave/forecasting';
import type { ForecastInputs } from './forecast-inputs.ts';

const dayMs = 86_400_000;

/** The interval of a number of a window. */
export function intervalIn(
  { nowMs, backtests }: Pick<ForecastInputs, 'nowMs' | 'backtests'>,
  range: TimeRange,
  estimate: number,
  samplingError?: number,
): Interval {
  const days = Math.max(1, (range.toMs - range.fromMs) / dayMs);
  const horizonDays = Math.max(1, (range.toMs - nowMs) / dayMs);
  return intervalOf(estimate, {
    ...{ perDay: estimate / days, horizonDays, backtests },
    ...(samplingError !== undefined && { samplingError }),
  });
}
