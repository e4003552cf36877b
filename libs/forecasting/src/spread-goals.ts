import type { PlanLineItem } from '@longwave/events';
import { fillDays } from '@longwave/pacing';
import type { TrafficDays } from './traffic-days.ts';
import type { TimeRange } from './traffic-history.ts';

/** Of a day's expected opportunities a plan counts on this share. */
const plannedShare = 0.9;
const dayMs = 86_400_000;

/** The part of a flight that lies ahead, in days: 1 for a whole one. */
export interface FlightDays {
  /** Of each simulated day how much of it belongs to the flight. */
  readonly inside: readonly number[];
  /** Days before the first simulated one, and after the last. */
  readonly before: number;
  readonly after: number;
}

/** Lays the part of a flight that lies ahead on the simulated days. @param nowMs what lies before is over */
export function flightDaysOf(
  { start, end }: PlanLineItem['window'],
  { starts }: Pick<TrafficDays, 'starts'>,
  { fromMs, toMs }: TimeRange,
  nowMs: number,
): FlightDays {
  const [flightFrom, flightTo] = [Math.max(Date.parse(start), nowMs), Date.parse(end)];
  const daysIn = (from: number, to: number) => Math.max(0, Math.min(to, flightTo) - Math.max(from, flightFrom)) / dayMs;
  return {
    inside: starts.map((from, day) => daysIn(Math.max(from, fromMs), Math.min(starts[day + 1] ?? toMs, toMs))),
    before: daysIn(-Infinity, fromMs),
    after: daysIn(toMs, Infinity),
  };
}

/** How much of a goal a plan has given when so much of the flight's traffic has passed. */
const givenAt = (passed: number, { mode, finish_early_pct: early }: NonNullable<PlanLineItem['pacing']>): number => {
  const u = Math.min(1, passed / (1 - early / 100));
  return mode === 'front_loaded' ? 1.5 * u - 0.5 * u * u : u;
};

/**
 * Spreads a goal over its flight as the pacer does (docs/pacing.md), and answers what of it may be given until the beginning of each simulated day and
 * the end of the last: `even` fills days like vessels with the same quantity, as far as traffic and the bounds of a day allow; `front_loaded` gives
 * half as much again in the beginning; `asap`, and a line item without pacing, gives all at once. The days of a flight that are not
 * simulated are taken to be like those that are.
 * @param goal in decided units of the simulation
 * @param opportunities that the line item fits, by simulated day
 * @param unit decided units of the simulation for one of the plan: the bounds of a day are in units of the plan
 */
export function planGoal(
  goal: number,
  opportunities: Float64Array,
  { inside, before, after }: FlightDays,
  pacing: PlanLineItem['pacing'],
  unit: number,
): Float64Array {
  const untilDay = new Float64Array(opportunities.length + 1);
  const all = opportunities.reduce((sum, one) => sum + one, 0);
  if (!pacing || pacing.mode === 'asap' || all === 0) return untilDay.fill(goal);
  const simulated = inside.reduce((sum, one) => sum + one, 0);
  const flight = before + simulated + after;
  const flightAt = (passed: number) => (before + (simulated * passed) / all) / flight;
  const givenBefore = givenAt(flightAt(0), pacing);
  const ofDays = goal * (givenAt(flightAt(all), pacing) - givenBefore);
  if (!(ofDays > 0)) return untilDay;
  const planned = Math.min(all, (all * (flight * (1 - pacing.finish_early_pct / 100) - before)) / simulated);
  const most = pacing.daily_max === undefined ? Infinity : pacing.daily_max * unit;
  const least = (pacing.daily_min ?? 0) * unit;
  let passed = 0;
  const within = opportunities.map((one) => {
    const earlier = Math.min(planned, passed);
    passed += one;
    return Math.min(planned, passed) - earlier;
  });
  const even = fillDays(
    ofDays,
    Array.from(within, (one, day) => {
      return { weight: inside[day]!, min: least, max: Math.min(most, plannedShare * one) };
    }),
  );
  const filled = even.reduce((sum, one) => sum + one, 0);
  passed = 0;
  let given = 0;
  within.forEach((one, day) => {
    passed += one;
    // Where traffic is too little for the goal, the whole goal is spread in proportion to it.
    const wanted =
      pacing.mode === 'even'
        ? given + (even[day]! * ofDays) / filled
        : goal * (givenAt(flightAt(passed), pacing) - givenBefore);
    given = Math.min(ofDays, given + most, Math.max(wanted, given + Math.min(least, plannedShare * one)));
    untilDay[day + 1] = given;
  });
  return untilDay;
}
