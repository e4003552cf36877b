import type { Attributes } from '@longwave/command-catalog';
import {
  isMoneyDimension,
  isMoneyMetric,
  reportConflicts,
  type MoneyDimension,
  type MoneyMetric,
  type ReportDimension,
  type ReportMetric,
} from '@longwave/events';
import { isTimeZone, isWholeHourZone } from '@longwave/podcast-analytics/zoned-days';
import { Problem, type FieldError } from '@longwave/problems';

export type ReportDefinition = Attributes<'report_definitions'>;
export type ReportRun = Attributes<'report_runs'>;
/** What a run counts: the settings that it takes from its definition. */
export type ReportSettings = Pick<ReportRun, 'dimensions' | 'metrics' | 'filters' | 'counting_basis' | 'time_zone'>;

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const maxWindowMs = 10 * 366 * 24 * hourMs;

const refuse = (errors: readonly FieldError[]) =>
  new Problem('validation_failed', errors.map(({ path, detail }) => `${path}: ${detail}`).join(' '), { errors });

/** The filters of a report that name keys. */
export const filtersOf = ({ filters }: Pick<ReportSettings, 'filters'>) =>
  Object.entries(filters).flatMap(([dimension, keys]) =>
    keys === undefined ? [] : [{ dimension: dimension as ReportDimension, keys }],
  );

/** Whether the days of a zone consist of whole hours of UTC, by which ads are counted. */
const isCountable = (timeZone: string, from: number, to: number) =>
  isTimeZone(timeZone) && isWholeHourZone(timeZone, { from: new Date(from), to: new Date(to) });

/** Whether a report is about money. */
export const isOfMoney = ({ metrics }: Pick<ReportSettings, 'metrics'>): boolean => metrics.some(isMoneyMetric);

/** The keys and numbers of a report of money. */
export const moneyFields = ({ dimensions, metrics }: ReportSettings) => ({
  dimensions: dimensions.filter((name): name is MoneyDimension => isMoneyDimension(name)),
  metrics: metrics.filter((name): name is MoneyMetric => isMoneyMetric(name)),
});

/** What metrics of money do not know; amounts of several currencies, and units of several bases, are never added. */
function conflictsOfMoney({ metrics }: ReportSettings, path: string, names: readonly string[]): FieldError[] {
  const error = (detail: string) => ({ path: `/changes/${path}`, code: 'not_counted', detail });
  return metrics
    .filter(isMoneyMetric)
    .flatMap((metric) => [
      ...names.filter((name) => !isMoneyDimension(name)).map((name) => error(`${metric} is not counted by ${name}.`)),
      ...(path === 'dimensions'
        ? (['currency', 'basis'] as const)
            .filter((name) => !names.includes(name))
            .map((name) => error(`${metric} needs the dimension ${name}.`))
        : []),
    ]);
}

/** Throws `validation_failed` naming every dimension, filter and basis that a metric does not know, and a zone that cannot be counted. */
export function assertCountable(settings: ReportSettings, now: Date): void {
  const { dimensions, metrics, counting_basis: basis, time_zone: timeZone } = settings;
  const filtered = filtersOf(settings).map(({ dimension }) => dimension);
  const counted = metrics.filter((name): name is ReportMetric => !isMoneyMetric(name));
  const conflictsOf = (path: string, names: readonly (ReportDimension | MoneyDimension)[]): FieldError[] => [
    ...conflictsOfMoney(settings, path, names),
    ...reportConflicts({ dimensions: names as readonly ReportDimension[], metrics: counted, basis }).flatMap(
      ({ metric, dimension }) =>
        dimension === undefined
          ? []
          : [{ path: `/changes/${path}`, code: 'not_counted', detail: `${metric} is not counted by ${dimension}.` }],
    ),
  ];
  const wrongBasis = reportConflicts({ dimensions: [], metrics: counted, basis }).map(({ metric }) => ({
    path: '/changes/counting_basis',
    code: 'not_counted',
    detail: `${metric} is counted in calendar_utc only.`,
  }));
  const errors = [...conflictsOf('dimensions', dimensions), ...conflictsOf('filters', filtered), ...wrongBasis];
  if (!isCountable(timeZone, now.getTime() - yearMs, now.getTime() + yearMs))
    errors.push({
      path: '/changes/time_zone',
      code: 'time_zone_not_counted',
      detail: `Ads are counted by whole hours of UTC, so name an IANA zone that is whole hours off, such as UTC; “${timeZone}” is not.`,
    });
  if (errors.length > 0) throw refuse(errors);
}

/** Throws `validation_failed` unless a window consists of whole hours of UTC, is at most ten years long and can be counted in the zone. */
export function assertWindow(window: ReportRun['window'], timeZone: string): void {
  const [from, to] = [Date.parse(window.start), Date.parse(window.end)];
  const wrong = (code: string, detail: string) => refuse([{ path: '/changes/window', code, detail }]);
  if (from % hourMs !== 0 || to % hourMs !== 0) throw wrong('not_whole_hours', 'Name whole hours of UTC.');
  if (to - from > maxWindowMs || from < 0 || to > Date.UTC(2200, 0))
    throw wrong('too_long', 'A window spans at most ten years, between 1970 and 2199.');
  if (!isCountable(timeZone, from, to))
    throw wrong('time_zone_not_counted', `In this window ${timeZone} is not whole hours off UTC.`);
}

/** The settings that a run takes from a version of its definition. */
export const settingsOf = (definition: ReportDefinition): ReportSettings => ({
  dimensions: definition.dimensions,
  metrics: definition.metrics,
  filters: definition.filters,
  counting_basis: definition.counting_basis,
  time_zone: definition.time_zone,
});
