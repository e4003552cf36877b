import { fillDays } from './day-quotas.ts';
import { opportunitiesBetween, type TrafficCurve } from './traffic-curve.ts';

const hourMs = 3_600_000;
/** Of a day's expected opportunities a plan counts on this share. */
const plannedShare = 0.9;

export type PacingMode = 'even' | 'front_loaded' | 'asap';

/** A calendar day of the workspace's zone, of 23, 24 or 25 hours; half-open. */
export interface LocalDay {
  readonly startMs: number;
  readonly endMs: number;
}

export interface ShapeInput {
  readonly mode: PacingMode;
  /** Per cent of the window's traffic that stay free at its end. */
  readonly finishEarlyPct: number;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
  /** From when on the rest of the window is spread. */
  readonly fromMs: number;
  /** Servings that are still to be decided in it. */
  readonly units: number;
  readonly traffic: TrafficCurve;
  /** Every day that the rest of the window touches, in order; the first holds `fromMs`. */
  readonly days: readonly LocalDay[];
  readonly dailyMin: number | undefined;
  readonly dailyMax: number | undefined;
  /** Units given on the first of the days before `fromMs`. */
  readonly usedToday: number;
}

/** How what is left of a goal is spread over the rest of its window. */
export interface PaceShape {
  /** Share of it that is to be given from `fromMs` until a time: 0 to 1, never falling. Known for `knownForMs`, and from the end on. */
  readonly shareUntil: (atMs: number) => number;
  /** Share of the first day's rest that is to be given from `fromMs` until a time. */
  readonly dayShareUntil: (atMs: number) => number;
}

/** For so long behind `fromMs` a shape is known; it is made again before. */
export const knownForMs = 3 * hourMs;

/** Where the plan ends: the window, or earlier by a part of its traffic. */
function plannedEnd({ windowStartMs, windowEndMs, finishEarlyPct, traffic }: ShapeInput): number {
  if (finishEarlyPct === 0) return windowEndMs;
  let free = (opportunitiesBetween(traffic, windowStartMs, windowEndMs) * finishEarlyPct) / 100;
  for (let endMs = windowEndMs; endMs > windowStartMs;) {
    const startMs = Math.max(windowStartMs, Math.ceil(endMs / hourMs - 1) * hourMs);
    const inHour = opportunitiesBetween(traffic, startMs, endMs);
    if (inHour >= free) return inHour === 0 ? endMs : endMs - ((endMs - startMs) * free) / inHour;
    free -= inHour;
    endMs = startMs;
  }
  return windowStartMs;
}

/** 1.5u − 0.5u² from one place in the window's traffic to another: half as much again at the beginning, half as much at the end. */
const frontLoaded = (fromShare: number, toShare: number) =>
  1.5 * (toShare - fromShare) - 0.5 * (toShare ** 2 - fromShare ** 2);

interface DayPart {
  readonly startMs: number;
  readonly endMs: number;
  readonly quota: number;
  /** Part of the quota that is to be given from the beginning until a time within the part. */
  readonly shareUntil: (atMs: number) => number;
}

/** The parts of days that lie in the rest of the plan, with what each is to give. */
function dayParts(input: ShapeInput, endMs: number): readonly DayPart[] {
  const { mode, fromMs, windowStartMs, traffic, units, dailyMin = 0, dailyMax = Infinity, usedToday } = input;
  const parts = input.days
    .map((day) => ({ day, startMs: Math.max(fromMs, day.startMs), endMs: Math.min(endMs, day.endMs) }))
    .filter((part) => part.startMs < part.endMs)
    .map((part) => ({ ...part, opportunities: opportunitiesBetween(traffic, part.startMs, part.endMs) }));
  const isFrontLoaded = mode === 'front_loaded';
  let passed = isFrontLoaded ? opportunitiesBetween(traffic, windowStartMs, fromMs) : 0;
  const all = passed + parts.reduce((sum, part) => sum + part.opportunities, 0);

  const bounded = parts.map(({ day, startMs, endMs: partEndMs, opportunities }) => {
    const inDay = opportunitiesBetween(traffic, day.startMs, day.endMs);
    const fraction = inDay > 0 ? opportunities / inDay : (partEndMs - startMs) / (day.endMs - day.startMs);
    const before = passed;
    passed += opportunities;
    const isToday = day.startMs <= fromMs && fromMs < day.endMs;
    const today = isToday ? usedToday : 0;
    const until = (atMs: number) => opportunitiesBetween(traffic, startMs, atMs);
    const amount = (to: number) => frontLoaded(before / all, (before + to) / all);
    return {
      ...{ startMs, endMs: partEndMs },
      shareUntil: (atMs: number) => {
        if (opportunities === 0) return (atMs - startMs) / (partEndMs - startMs);
        return isFrontLoaded ? amount(until(atMs)) / amount(opportunities) : until(atMs) / opportunities;
      },
      bounds: {
        weight: isFrontLoaded && all > 0 ? amount(opportunities) * units : fraction,
        min: Math.max(0, today > 0 ? dailyMin - today : dailyMin * fraction),
        max: Math.max(0, Math.min(dailyMax - today, traffic.isAbsolute ? plannedShare * opportunities : Infinity)),
      },
    };
  });
  const quotas = fillDays(
    units,
    bounded.map(({ bounds }) => bounds),
  );
  return bounded.map(({ bounds: _, ...part }, at) => ({ ...part, quota: quotas[at]! }));
}

/** What a part of a day is to give from its beginning until a time. */
function givenUntil({ startMs, endMs, quota, shareUntil }: DayPart, atMs: number): number {
  if (atMs <= startMs) return 0;
  return atMs >= endMs ? quota : quota * shareUntil(atMs);
}

/**
 * Spreads the rest of a goal over the rest of its window. `even`: the same quantity each local day as far as traffic allows;
 * `front_loaded`: more at the beginning, both within the bounds of a day; within a day in proportion to traffic. `asap`: all at once.
 */
export function shapePace(input: ShapeInput): PaceShape {
  const { mode, fromMs } = input;
  const endMs = plannedEnd(input);
  if (mode === 'asap' || fromMs >= endMs) return { shareUntil: () => 1, dayShareUntil: () => 1 };
  const parts = dayParts(input, endMs);
  const total = parts.reduce((sum, { quota }) => sum + quota, 0);
  const near = parts.filter(({ startMs }) => startMs < fromMs + knownForMs);
  const [first] = near;
  return {
    shareUntil: (atMs) => {
      if (atMs >= endMs) return 1;
      if (total === 0) return Math.max(0, (atMs - fromMs) / (endMs - fromMs));
      return Math.min(1, near.reduce((sum, part) => sum + givenUntil(part, atMs), 0) / total);
    },
    dayShareUntil: (atMs) => (!first || first.quota === 0 ? 1 : givenUntil(first, atMs) / first.quota),
  };
}
