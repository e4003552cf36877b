import { daysIn, type SimulatedPlay } from './compose-plays.ts';
import { createLocalTime } from './local-time.ts';
import type { TimeRange } from './traffic-history.ts';

/** The days of a window, and the time of each in the traffic of its day. */
export interface TrafficDays {
  readonly starts: readonly number[];
  readonly dayOf: Uint16Array;
  /** Per play the share of its day's plays before it. */
  readonly passed: Float64Array;
}

export function trafficDaysOf(
  plays: readonly SimulatedPlay[],
  days: TimeRange & { readonly timeZone: string },
): TrafficDays {
  const { dayStartOf } = createLocalTime(days.timeZone);
  const starts = daysIn(days, dayStartOf);
  const numbers = new Map(starts.map((start, day) => [start, day]));
  const dayOf = Uint16Array.from(plays, ({ atMs }) => numbers.get(dayStartOf(atMs)) ?? 0);
  const counts = new Float64Array(starts.length);
  const before = Float64Array.from(dayOf, (day) => counts[day]!++);
  return { starts, dayOf, passed: before.map((count, at) => count / counts[dayOf[at]!]!) };
}
