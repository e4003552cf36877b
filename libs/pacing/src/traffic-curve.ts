const hourMs = 3_600_000;

/**
 * Share of a week's listening by the hour of the week of UTC, Monday first, relative to the mean: a working day has its height in the
 * morning and a second one in the evening, a weekend is lower and later.
 */
const workday = [
  0.42, 0.33, 0.3, 0.34, 0.52, 0.86, 1.26, 1.52, 1.48, 1.32, 1.2, 1.14, 1.12, 1.1, 1.14, 1.26, 1.42, 1.46, 1.34, 1.2,
  1.12, 1.0, 0.8, 0.58,
];
const restDay = [
  0.44, 0.34, 0.28, 0.26, 0.3, 0.4, 0.58, 0.8, 1.0, 1.12, 1.16, 1.12, 1.06, 1.02, 1.0, 1.02, 1.06, 1.06, 1.02, 0.98,
  0.94, 0.86, 0.74, 0.58,
];
const networkWeek: readonly number[] = [...Array(5).fill(workday).flat(), ...restDay, ...restDay] as number[];

/** 1970-01-01 was a Thursday. */
function weightAt(hour: number): number {
  const ofWeek = (hour + 3 * 24) % networkWeek.length;
  return networkWeek[ofWeek < 0 ? ofWeek + networkWeek.length : ofWeek]!;
}

/** Expected opportunities that fit a line item, by the hour of UTC. */
export interface TrafficCurve {
  /** Opportunities of an hour, numbered from 1970 on. */
  readonly at: (hour: number) => number;
  /** Whether the numbers are opportunities; else they are only in proportion to them. */
  readonly isAbsolute: boolean;
}

/** Traffic in proportion to what the whole network hears by the hour of the week. */
export const networkTraffic: TrafficCurve = { at: weightAt, isAbsolute: false };

/**
 * A plan's hours from a time on. Behind its end it goes on at its mean in the shape of the network's week; one without any opportunity says
 * nothing, so the network's week stands in for it.
 */
export function plannedTraffic(startsAtMs: number, hours: ArrayLike<number>): TrafficCurve {
  const first = Math.floor(startsAtMs / hourMs);
  let [opportunities, weights] = [0, 0];
  for (let at = 0; at < hours.length; at++) {
    opportunities += hours[at]!;
    weights += weightAt(first + at);
  }
  if (!(opportunities > 0)) return networkTraffic;
  const level = opportunities / weights;
  return { at: (hour) => hours[hour - first] ?? level * weightAt(hour), isAbsolute: true };
}

/** Opportunities from one instant to another; within an hour they come evenly. */
export function opportunitiesBetween({ at }: TrafficCurve, fromMs: number, toMs: number): number {
  let sum = 0;
  for (let hour = Math.floor(fromMs / hourMs); hour * hourMs < toMs; hour++) {
    const within = Math.min(toMs, (hour + 1) * hourMs) - Math.max(fromMs, hour * hourMs);
    sum += (at(hour) * within) / hourMs;
  }
  return sum;
}
