import type { PlanLineItem } from '@longwave/events';
import { fillDays } from '@longwave/pacing';

/** Of a day's expected opportunities a plan counts on this share. */
const plannedShare = 0.9;

/** What of a goal may be given until the end of each day. */
export interface GoalPlan {
  /** Cumulative by day; index 0 is before the first. */
  readonly untilDay: Float64Array;
  readonly goal: number;
}

/**
 * Spreads a goal over days as the pacer does (docs/pacing.md): `even` fills days like vessels with the same quantity, as far as traffic
 * and the bounds of a day allow; `front_loaded` gives half as much again in the beginning; `asap`, and a line item without pacing, gives all at once.
 * @param goal in decided units of the simulation
 * @param opportunities that the line item fits, by day
 * @param unit decided units of the simulation for one of the plan: the bounds of a day are in units of the plan
 */
export function planGoal(
  goal: number,
  opportunities: Float64Array,
  pacing: PlanLineItem['pacing'],
  unit: number,
): GoalPlan {
  const untilDay = new Float64Array(opportunities.length + 1);
  const all = opportunities.reduce((sum, one) => sum + one, 0);
  if (!pacing || pacing.mode === 'asap' || all === 0) return { untilDay: untilDay.fill(goal), goal };
  const planned = all * (1 - pacing.finish_early_pct / 100);
  const most = pacing.daily_max === undefined ? Infinity : pacing.daily_max * unit;
  const least = (pacing.daily_min ?? 0) * unit;
  let passed = 0;
  const within = opportunities.map((one) => {
    const before = Math.min(planned, passed);
    passed += one;
    return Math.min(planned, passed) - before;
  });
  const even = fillDays(
    goal,
    Array.from(within, (one) => ({ weight: 1, min: least, max: Math.min(most, plannedShare * one) })),
  );
  const filled = even.reduce((sum, one) => sum + one, 0);
  passed = 0;
  let given = 0;
  within.forEach((one, day) => {
    passed += one;
    const u = passed / planned;
    // Where traffic is too little for the goal, the whole goal is spread in proportion to it.
    const wanted = pacing.mode === 'even' ? given + (even[day]! * goal) / filled : goal * (1.5 * u - 0.5 * u * u);
    given = Math.min(goal, given + most, Math.max(wanted, given + Math.min(least, plannedShare * one)));
    untilDay[day + 1] = given;
  });
  return { untilDay, goal };
}
