import {
  addBit,
  createBits,
  createUrgency,
  removeBit,
  seedOf,
  type Bits,
  type DecisionInputs,
  type PlanIndex,
  type UrgencyLevel,
} from '@longwave/ad-decision';
import type { ServingPlanDocument } from '@longwave/events';
import { flightDaysOf, planGoal } from './spread-goals.ts';
import type { TrafficDays } from './traffic-days.ts';
import type { TimeRange } from './traffic-history.ts';

/** Goals that are behind their plan by so many hundredths have urgency 1, 2 and 3. */
const urgencySteps = [0.005, 0.015, 0.04] as const;

/** What the line items of a plan may be given, in decided units of the simulation. */
export interface Credits {
  /** Until the beginning of each day and the end of the last: a row of all line items for each; Infinity without a goal. */
  readonly untilDay: Float64Array;
  /** By line item, all that it lacks of its goal, also what is planned for other days; 0 without a goal. */
  readonly goals: Float64Array;
}

/** What a line item may be given until a time in the traffic of a day. */
export function allowedUntil(
  { untilDay, goals: { length } }: Credits,
  ordinal: number,
  day: number,
  passed: number,
): number {
  const from = untilDay[day * length + ordinal]!;
  return from === Infinity ? from : from + (untilDay[(day + 1) * length + ordinal]! - from) * passed;
}

/** The goals of a simulated plan (`DeliveryInputs`). */
interface GoalInputs {
  readonly plan: Pick<ServingPlanDocument, 'line_items'>;
  readonly index: PlanIndex;
  readonly days: TimeRange;
  readonly goalsLeft: ReadonlyMap<string, number>;
  readonly goalsAtMs: number;
  readonly deliveryRates: ReadonlyMap<string, number>;
  /** Plays of the real traffic for each simulated one. */
  readonly scale: number;
}

/**
 * Gives the simulated days what the flights of line items plan for them.
 * @param counts opportunities: a row of all line items for each day
 */
export function creditGoals(
  { plan, index: { lines }, days, goalsLeft, goalsAtMs, deliveryRates, scale }: GoalInputs,
  trafficDays: TrafficDays,
  counts: Float64Array,
): Credits {
  const { starts } = trafficDays;
  const booked = new Map(plan.line_items.map((line) => [line.line_item_id, line]));
  const untilDay = new Float64Array((starts.length + 1) * lines.length).fill(Infinity);
  const goals = new Float64Array(lines.length);
  const unit = 1 / scale;
  lines.forEach(({ lineItemId, goalQuantity }, ordinal) => {
    if (goalQuantity === undefined) return;
    const { pacing, window } = booked.get(lineItemId)!;
    const goal = ((goalsLeft.get(lineItemId) ?? goalQuantity) / (deliveryRates.get(lineItemId) ?? 1)) * unit;
    const opportunities = Float64Array.from(starts, (_, day) => counts[day * lines.length + ordinal]!);
    const flight = flightDaysOf(window, trafficDays, days, goalsAtMs);
    const planned = planGoal(goal, opportunities, flight, pacing, unit);
    const all = planned.at(-1)!;
    // A part of a unit is given in as many simulations as it is large.
    const whole = Math.floor(all + seedOf(`rounding ${lineItemId}`) / 2 ** 32);
    goals[ordinal] = goal;
    planned.forEach((units, day) => (untilDay[day * lines.length + ordinal] = whole === 0 ? 0 : (units * whole) / all));
  });
  return { untilDay, goals };
}

/** How urgent a line item is that is behind its plan by a share of its goal. */
export const levelOf = (behind: number): UrgencyLevel => {
  const [one, two, three] = urgencySteps;
  return behind <= one ? 0 : behind <= two ? 1 : behind <= three ? 2 : 3;
};

/** The credit of a running simulation. */
interface SimulatedCredit {
  readonly inputs: Pick<DecisionInputs, 'credit' | 'urgency' | 'remaining'>;
  /** Says at which time in the traffic of a day the simulation is. */
  readonly moveTo: (day: number, passed: number) => void;
  readonly give: () => void;
  /** Takes off what a line item was just given. */
  readonly use: (ordinal: number) => void;
}

/** Credit and urgency of the line items with a goal, given anew from time to time; what is used is taken off at once. */
export function createCredit({ goals, lines }: PlanIndex, credits: Credits, used: Float64Array): SimulatedCredit {
  const credit = createBits(lines.length);
  const urgency = createUrgency(lines.length);
  const goalOrdinals: number[] = [];
  forEachBit(goals, (ordinal) => goalOrdinals.push(ordinal));
  const at = { day: 0, passed: 0 };
  const remaining = (ordinal: number) => allowedUntil(credits, ordinal, at.day, at.passed) - used[ordinal]!;
  return {
    inputs: { credit, urgency, remaining },
    moveTo: (day, passed) => void Object.assign(at, { day, passed }),
    give: () => {
      credit.fill(0);
      for (const bits of urgency) bits.fill(0);
      for (const ordinal of goalOrdinals) {
        const left = remaining(ordinal);
        if (left <= 0) continue;
        addBit(credit, ordinal);
        // A simulated unit stands for many: one of it is no delay.
        if (left <= 1) continue;
        const level = levelOf((left - 1) / credits.goals[ordinal]!);
        if (level > 0) addBit(urgency[level - 1]!, ordinal);
      }
    },
    use: (ordinal) => {
      if (remaining(ordinal) <= 0) removeBit(credit, ordinal);
    },
  };
}

/** Visits the ordinals of a set, the lowest first. */
export function forEachBit(bits: Bits, visit: (ordinal: number) => void): void {
  for (let word = 0; word < bits.length; word++)
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) visit(word * 32 + 31 - Math.clz32(rest & -rest));
}

/** Counts in how many sets each ordinal is. A word of each binary digit holds that of 32 counts, so that a set is added word by word. */
interface SetCounts {
  readonly add: (bits: Bits) => void;
  /** Adds the counts to a row, so many times, and begins anew. */
  readonly moveInto: (row: Float64Array, times: number) => void;
}

export function createSetCounts(words: number): SetCounts {
  const digits: Uint32Array[] = [];
  return {
    add: (bits) => {
      for (let word = 0; word < words; word++)
        for (let carry = bits[word]!, place = 0; carry !== 0; place++) {
          const digit = (digits[place] ??= new Uint32Array(words));
          const before = digit[word]!;
          digit[word] = before ^ carry;
          carry &= before;
        }
    },
    moveInto: (row, times) =>
      digits.forEach((digit, place) => {
        forEachBit(digit, (ordinal) => (row[ordinal]! += times * 2 ** place));
        digit.fill(0);
      }),
  };
}
