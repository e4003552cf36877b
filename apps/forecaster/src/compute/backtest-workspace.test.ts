import { expect, test } from '@jest/globals';
import { defaultSeparation } from '@longwave/events';
import type { PlayHour } from '@longwave/rpc/serving';
import { backtestWorkspace } from './backtest-workspace.ts';
import type { ForecastInputs } from './forecast-inputs.ts';
import { makeForecast } from './make-forecast.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = Date.UTC(2026, 5, 1);

/** Ten podcasts with old episodes alone, of ten opportunities an hour, in so many days before now; every second week has a fifth more. */
function hoursOf(days: number): PlayHour[] {
  const hours = Array.from({ length: days * 24 }, (_, at) => nowMs - (days * 24 - at) * hourMs);
  return hours.flatMap((atMs) =>
    Array.from({ length: 10 }, (_, podcast) => ({
      ...{ podcastId: `pod_${podcast}`, episodeId: `ep_${podcast}`, language: 'en', contentCategories: [] },
      publishedAtMs: BigInt(nowMs - 300 * dayMs),
      hourMs: BigInt(atMs),
      opportunities: Math.floor(atMs / (7 * dayMs)) % 2 === 0 ? 10n : 12n,
    })),
  );
}

const inputsOf = (hours: readonly PlayHour[]): ForecastInputs => ({
  ...{
    workspaceId: 'ws_1',
    nowMs,
    past: { untilMs: nowMs, plays: [], hours },
    committed: [],
    backtests: [],
    maxPlays: 100,
  },
  booking: {
    head: { bookingVersion: 1n, planDigest: '', timeZone: 'UTC', modifiers: [], releases: [] },
    plan: {
      ...{ format: 2, workspace_id: 'ws_1', effective_from: new Date(nowMs).toISOString(), inputs: [], floors: [] },
      ...{ separation: defaultSeparation, line_items: [] },
    },
  },
});

const window = { start: new Date(nowMs).toISOString(), end: new Date(nowMs + 7 * dayMs).toISOString() };
const ask = (inputs: ForecastInputs) => makeForecast(inputs, { kind: 'traffic', window }).confidence;

test('the intervals of a forecast come from the backtests of its workspace where they are enough, else from what is usual', () => {
  const inputs = inputsOf(hoursOf(70));
  const { ratios, rows, historyDays } = backtestWorkspace(inputs);
  expect(historyDays).toBe(70);
  expect(rows.map(({ kind, horizon, forecasts }) => [kind, horizon, forecasts])).toEqual([
    ['podcast', 7, 40],
    ['podcast', 28, 40],
  ]);
  // Each podcast has the same traffic: what it was off by is what the whole is.
  const perPodcast = ratios.map((one) => ({ ...one, volume: 2 as const }));
  const [own, usual] = [ask({ ...inputs, backtests: perPodcast }), ask(inputs)];
  expect([own.method, usual.method]).toEqual(['backtest', 'prior']);
  expect(own.high! - own.low).toBeLessThan((usual.high! - usual.low) / 2);
});

test('without facts there is nothing to test', () => {
  expect(backtestWorkspace(inputsOf([]))).toEqual({ historyDays: 0, rows: [], ratios: [] });
});

test('an episode is not known before it came out', () => {
  const old = hoursOf(70);
  const late = nowMs - 3 * dayMs;
  const release: PlayHour[] = Array.from({ length: 72 }, (_, at) => ({
    ...old[0]!,
    ...{ episodeId: 'ep_new', publishedAtMs: BigInt(late), hourMs: BigInt(late + at * hourMs), opportunities: 400n },
  }));
  const hours = [...old, ...release].toSorted((a, b) => Number(a.hourMs - b.hourMs));
  const weekOf = (of: readonly PlayHour[]) =>
    backtestWorkspace(inputsOf(of), 1).ratios.filter(({ horizon, ratio }) => horizon === 7 && ratio > 5);
  expect([weekOf(old).length, weekOf(hours).length]).toEqual([0, 1]);
});
