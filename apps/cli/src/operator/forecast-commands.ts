import type { BacktestResponse, ForecastAccuracy } from '@longwave/rpc/forecast';
import { needed, UsageError, workspaceOption, type OperatorCommand } from '../command.ts';
import { columns } from '../manage/table.ts';
import { positiveNumber } from '../positive-number.ts';

const usualWeeks = 4;
const maxWeeks = 8;

const kinds: Readonly<Record<string, string>> = {
  podcast: 'podcasts of 1,000 opportunities a week or more',
  release_driven: 'those with half of it from the week’s episodes',
};

/** A share as per cent; a number that nothing came for is none. */
const percent = (share: number) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '–');
const errorsOf = (accuracy: ForecastAccuracy) => [percent(accuracy.wmape), percent(accuracy.dailyWmape)];

/** The table that people read. */
export function backtestLines({ historyDays, rows }: BacktestResponse): readonly string[] {
  if (rows.length === 0)
    return [
      `There are facts of ${historyDays} days: too few to test a forecast. It takes 35 days, and podcasts of 1,000 opportunities a week.`,
    ];
  const heading = [
    'of',
    'days',
    'forecasts',
    'wMAPE',
    'by day',
    'bias',
    'covers',
    'weekday mean',
    'by day',
    'last week',
  ];
  const lines = rows.map((row) => [
    ...[kinds[row.kind] ?? row.kind, String(row.horizonDays), String(row.forecasts)],
    ...[...errorsOf(row.ours!), percent(row.ours!.bias), percent(row.coverage)],
    ...[...errorsOf(row.weekdayMean!), percent(row.lastWeek!.wmape)],
  ]);
  return [
    ...columns([heading, ...lines]).split('\n'),
    '',
    `From facts of ${historyDays} days. wMAPE: sum of errors ÷ what came, over whole horizons and by day. covers: what came inside the 80 % interval.`,
    'weekday mean, last week: the errors of two simple methods, the mean of the last 28 days by weekday and the last 7 days again.',
  ];
}

/** How good forecasts are (docs/forecasting.md#accuracy). */
export const forecastCommands: readonly OperatorCommand[] = [
  {
    name: 'forecast backtest',
    summary: 'Shows how good forecasts of a workspace would have been in the last weeks, beside two simple methods.',
    options: [
      workspaceOption,
      {
        name: 'weeks',
        value: 'N',
        meaning: `forecasts of 7 and of 28 days, one a week, 1 to ${maxWeeks} of each (default: ${usualWeeks})`,
        optional: true,
      },
    ],
    example: 'forecast backtest --workspace ws_01jcq7v8z4n2m6k9s3x5t1r0wd --weeks 4',
    run: async (operator, options) => {
      const weeks = positiveNumber('weeks', options['weeks']) ?? usualWeeks;
      if (!Number.isInteger(weeks) || weeks > maxWeeks)
        throw new UsageError(`--weeks must be a whole number from 1 to ${maxWeeks}.`);
      return operator.backtest(needed(options, 'workspace'), weeks);
    },
    linesOf: (result) => backtestLines(result as BacktestResponse),
  },
];
