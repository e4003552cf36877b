import { expect, test } from '@jest/globals';
import { bookedLine, createDraws, generateWorld, targetingOf } from '../src/generated-world/index.ts';
import { backtest, type BacktestRow, type PodcastHistory } from '../src/index.ts';
import { dayMs, hourMs, planWindow, startMs } from './_world.ts';

const worldOf = (seed: number) =>
  generateWorld({ seed, podcasts: 12, playsPerDay: 6000, fromMs: startMs - 150 * dayMs, toMs: startMs });

/** The goals of docs/forecasting.md#accuracy, over the generated worlds of some seeds together. */
const worlds = [1, 2, 3].map(worldOf);
const runs = worlds.map(({ histories }) =>
  backtest({ nowMs: startMs, timeZone: 'UTC', podcasts: histories, weeks: 4 }),
);

/** The same worlds as a workspace knows them: 90 days of facts, and each episode from its release on. */
const shortRuns = [1, 2, 3].map((seed) => {
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
  return backtest({ nowMs: startMs, timeZone: 'UTC', podcasts: worlds[seed - 1]!.histories.map(known), weeks: 4 });
});

const targetingRuns = [4, 5].map((seed) => {
  const world = worldOf(seed);
  const draws = createDraws(seed + 100);
  const lines = Array.from({ length: 8 }, (_, at) =>
    bookedLine({ line_item_id: `li_${at}`, window: planWindow, targeting: targetingOf(world.podcasts, draws) }),
  );
  const plays = world.playsOf({ fromMs: startMs - 56 * dayMs, toMs: startMs }, { perPodcastAndDay: 40 });
  return backtest({ nowMs: startMs, timeZone: 'UTC', podcasts: world.histories, lines, plays, weeks: 1 });
});

const mean = (
  kind: BacktestRow['kind'],
  horizon: number,
  read: (row: BacktestRow) => number,
  from = kind === 'targeting' ? targetingRuns : runs,
) => {
  const rows = from.flatMap((run) => run.rows).filter((row) => row.kind === kind && row.horizon === horizon);
  return (
    rows.reduce((sum, row) => sum + read(row) * row.forecasts, 0) / rows.reduce((sum, row) => sum + row.forecasts, 0)
  );
};

test.each([
  [7, 0.12, 0.03],
  [28, 0.2, 0.05],
] as const)('traffic of podcasts over %i days: wMAPE at most %d, bias at most %d', (horizon, wmape, bias) => {
  expect(mean('podcast', horizon, ({ ours }) => ours.wmape)).toBeLessThanOrEqual(wmape);
  expect(Math.abs(mean('podcast', horizon, ({ ours }) => ours.bias))).toBeLessThanOrEqual(bias);
});

test.each([
  [7, 0.15],
  [28, 0.25],
] as const)('matched of targetings over %i days: wMAPE at most %d', (horizon, wmape) => {
  expect(mean('targeting', horizon, ({ ours }) => ours.wmape)).toBeLessThanOrEqual(wmape);
});

test.each([
  [7, 0.75, 0.85],
  [28, 0.72, 0.88],
] as const)('the 80 % interval of podcasts over %i days covers %d to %d', (horizon, low, high) => {
  const coverage = mean('podcast', horizon, ({ ours }) => ours.coverage);
  expect(coverage).toBeGreaterThanOrEqual(low);
  expect(coverage).toBeLessThanOrEqual(high);
});

test('days are forecast better than by either baseline', () => {
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
