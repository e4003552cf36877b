import { backtest, type BacktestRatio, type BacktestRow } from '@longwave/forecasting';
import { trafficInputs } from '../inputs/traffic-inputs.ts';
import type { ForecastInputs } from './forecast-inputs.ts';

const dayMs = 86_400_000;
/** Origins of each horizon. With 90 days of facts the earliest has 41 days before it. */
const usualWeeks = 4;

/** How good forecasts of a workspace were in the last weeks. */
export interface WorkspaceBacktest {
  /** Days of facts that it was made from. */
  readonly historyDays: number;
  readonly rows: readonly BacktestRow[];
  readonly ratios: readonly BacktestRatio[];
}

/**
 * Makes forecasts of the podcasts of a workspace as of past weeks and compares them with what came. When an episode was scheduled is not
 * known, so each is taken as unknown until it came out: the cadence alone expects it. Pure.
 * @param weeks origins, one a week
 */
export function backtestWorkspace(
  { past, booking }: Pick<ForecastInputs, 'past' | 'booking'>,
  weeks = usualWeeks,
): WorkspaceBacktest {
  const { hours, untilMs } = past;
  const [first] = hours;
  if (!first) return { historyDays: 0, rows: [], ratios: [] };
  const { timeZone, podcasts } = trafficInputs(hours, { ...booking.head, releases: [] }, untilMs);
  const asKnown = podcasts.map((podcast) => ({
    ...podcast,
    episodes: podcast.episodes.map((episode) => ({ ...episode, knownAtMs: episode.publishedAtMs })),
  }));
  return {
    historyDays: Math.ceil((untilMs - Number(first.hourMs)) / dayMs),
    ...backtest({ nowMs: untilMs, timeZone, podcasts: asKnown, weeks }),
  };
}
