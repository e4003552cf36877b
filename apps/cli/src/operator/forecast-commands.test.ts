import { expect, test } from '@jest/globals';
import { backtestLines } from './forecast-commands.ts';

const accuracy = (wmape: number) => ({ wmape, dailyWmape: 2 * wmape, bias: -0.02 });

test('a backtest is a table with errors, bias and coverage beside two simple methods', () => {
  const row = { kind: 'podcast', horizonDays: 7, forecasts: 12, ours: accuracy(0.084), coverage: 0.79 };
  const lines = backtestLines({
    historyDays: 90,
    rows: [{ ...row, weekdayMean: accuracy(0.11), lastWeek: accuracy(NaN) }],
  });
  expect(lines[0]).toMatch(/^of +days +forecasts +wMAPE +by day +bias +covers +weekday mean +by day +last week$/);
  expect(lines[1]).toMatch(/^podcasts of 1,000 .* 7 +12 +8\.4 % +16\.8 % +-2\.0 % +79\.0 % +11\.0 % +22\.0 % +–$/);
});

test('too few facts are said in one sentence', () => {
  expect(backtestLines({ historyDays: 9, rows: [] })).toEqual([expect.stringContaining('facts of 9 days')]);
});
