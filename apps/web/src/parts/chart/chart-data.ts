/** What a line or its bars are: the numbers themselves, those of the time before, ads, a plan, or what is to be reached. Each has its colour everywhere. */
type SeriesLook = 'own' | 'before' | 'ads' | 'plan' | 'goal';

/** One series of a chart. */
interface ChartSeries {
  readonly name: string;
  readonly look: SeriesLook;
}

/** One place of a chart: a bucket of time with a value of each series, in their order; undefined where there is none. */
export interface ChartPoint {
  /** As files name it: an instant or a day, ISO 8601. */
  readonly key: string;
  /** In full, for whoever points at it or listens. */
  readonly title: string;
  /** In short, for the axis. */
  readonly short: string;
  readonly values: readonly (number | undefined)[];
  /** Whether it may still grow. */
  readonly isUnfinished?: boolean;
  /** Whether the range has only a part of it: a week of which it begins in the middle. */
  readonly isPart?: boolean;
  /** What happened there, in very few letters: an episode. */
  readonly mark?: string;
}

/** What a plan does not show: everything before the first point. */
export interface ChartWall {
  /** How much of what was asked for lies behind it, 0 to 1. */
  readonly share: number;
}

/** What a chart and its table show. The first series is the one that the chart is about. */
export interface ChartData {
  readonly series: readonly ChartSeries[];
  readonly points: readonly ChartPoint[];
  readonly wall?: ChartWall | undefined;
}

/** The greatest value of all series. */
export const greatestOf = ({ points }: ChartData): number =>
  Math.max(0, ...points.flatMap(({ values }) => values.map((value) => value ?? 0)));

/** Which points of a line are dotted: those that may still grow, with the way to the first of them. */
export function splitUnfinished(points: readonly Pick<ChartPoint, 'isUnfinished'>[]): {
  readonly solidTo: number;
  readonly dottedFrom: number;
} {
  const first = points.findIndex(({ isUnfinished }) => isUnfinished);
  if (first === -1) return { solidTo: points.length, dottedFrom: points.length };
  return { solidTo: first, dottedFrom: Math.max(0, first - 1) };
}
