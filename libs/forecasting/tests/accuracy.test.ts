import { expect, test } from '@jest/globals';
import { bookedLine, createDraws, generateWorld, targetingOf } from '../src/generated-world/index.ts';
import { backtest, type BacktestRow, type PodcastHistory } from '../src/index.ts';
import { dayMs, hourMs, planWindow, startMs } from './_world.ts';

const seeds = [1, 2, 3, 4];
const lineItems = 16;
const weeks = 4;

const worlds = seeds.map((seed) => ({
  seed,
  ...generateWorld({ seed, podcasts: 12, playsPerDay: 6000, fromMs: startMs - 150 * dayMs, toMs: startMs }),
}));

/** Backtests of podcasts and targetings; the seeds are not those of the table in docs/forecasting.md. */
const runs = worlds.map(({ seed, podcasts, histories, playsOf }) => {
  const draws = createDraws(seed + 100);
  const lines = Array.from({ length: lineItems }, (_, at) =>
    bookedLine({ line_item_id: `li_${at}`, window: planWindow, targeting: targetingOf(podcasts, draws) }),
  );
  const past = { fromMs: startMs - (56 + 7 * (weeks - 1)) * dayMs, toMs: startMs };
  const plays = playsOf(past, { perPodcastAndDay: 40 });
  return backtest({ nowMs: startMs, timeZone: 'UTC', podcasts: histories, lines, plays, weeks });
});

/** Three of the worlds as a workspace knows them: 90 days of facts, and each episode from its release on. */
const shortRuns = worlds.slice(0, 3).map(({ histories }) => {
  const known = ({ episodes, ...podcast }: PodcastHistory): PodcastHistory => ({
    ...podcast,
    episodes: episodes
      .map((episode) => ({
        ...episode,
        knownAtMs: episode.publishedAtMs,
        hours: episode.hours.filter(([hour]) => hour * hourMs >= startMs - 90 * dayMs),
      }))
      .filter(({ hours }) => hours.length > 0),
  });
  return backtest({ nowMs: startMs, timeZone: 'UTC', podcasts: histories.map(known), weeks });
});

const mean = (kind: BacktestRow['kind'], horizon: number, read: (row: BacktestRow) => number, from = runs) => {
  const rows = from.flatMap((run) => run.rows).filter((row) => row.kind === kind && row.horizon === horizon);
  return (
    rows.reduce((sum, row) => sum + read(row) * row.forecasts, 0) / rows.reduce((sum, row) => sum + row.forecasts, 0)
  );
};

test.each([
  ['podcast', 7, 0.12, 0.03],
  ['podcast', 28, 0.2, 0.05],
  ['targeting', 7, 0.15, 0.03],
  ['targeting', 28, 0.25, 0.05],
] as const)('of each %s over %i days: wMAPE at most %d, bias at most %d', (kind, horizon, wmape, bias) => {
  expect(mean(kind, horizon, ({ ours }) => ours.wmape)).toBeLessThanOrEqual(wmape);
  expect(Math.abs(mean(kind, horizon, ({ ours }) => ours.bias))).toBeLessThanOrEqual(bias);
});

test.each([
  ['podcast', 7, 0.75, 0.85],
  ['podcast', 28, 0.72, 0.88],
  ['targeting', 7, 0.75, 0.85],
  ['targeting', 28, 0.72, 0.88],
] as const)('the 80 % interval of each %s over %i days covers %d to %d', (kind, horizon, low, high) => {
  const coverage = mean(kind, horizon, ({ ours }) => ours.coverage);
  expect(coverage).toBeGreaterThanOrEqual(low);
  expect(coverage).toBeLessThanOrEqual(high);
});

test.each([
  [7, 0.2],
  [28, 0.15],
] as const)(
  'days of podcasts that live by the week’s episodes are forecast better over %i days than by the weekday mean, by %d at least',
  (horizon, gain) => {
    const daily = mean('release_driven', horizon, ({ ours }) => ours.dailyWmape);
    const baseline = mean('release_driven', horizon, (row) => row.weekdayMean.dailyWmape);
    expect(daily).toBeLessThanOrEqual((1 - gain) * baseline);
  },
);

test('days of all podcasts are forecast better than by either baseline', () => {
  for (const horizon of [7, 28]) {
    const daily = mean('podcast', horizon, ({ ours }) => ours.dailyWmape);
    expect(daily).toBeLessThan(0.9 * mean('podcast', horizon, (row) => row.weekdayMean.dailyWmape));
    expect(daily).toBeLessThan(0.8 * mean('podcast', horizon, (row) => row.lastWeek.dailyWmape));
  }
});

test.each([
  [7, 0.04],
  [28, 0.07],
] as const)('with 90 days of facts the bias over %i days is at most %d in three small worlds', (horizon, bias) => {
  expect(Math.abs(mean('podcast', horizon, ({ ours }) => ours.bias, shortRuns))).toBeLessThanOrEqual(bias);
});
