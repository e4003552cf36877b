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
import { planGoal, type GoalPlan } from './spread-goals.ts';
import type { TrafficDays } from './traffic-days.ts';

/** Goals that are behind their plan by so many hundredths have urgency 1, 2 and 3. */
const urgencySteps = [0.005, 0.015, 0.04] as const;

/** What the line items of a plan may be given at a time. */
interface Credits {
  /** Decided units that the plan allows so far, without those that were given; Infinity without a goal. */
  readonly allowed: (ordinal: number, day: number, passed: number) => number;
  /** 0 without a goal. */
  readonly goalOf: (ordinal: number) => number;
}

/** The goals of a simulated plan (`DeliveryInputs`). */
interface GoalInputs {
  readonly plan: Pick<ServingPlanDocument, 'line_items'>;
  readonly index: PlanIndex;
  readonly goalsLeft: ReadonlyMap<string, number>;
  readonly deliveryRates: ReadonlyMap<string, number>;
  /** Plays of the real traffic for each simulated one. */
  readonly scale: number;
}

/** Spreads the goals of a plan over the days of its simulation. @param counts opportunities by line item and day */
export function creditGoals(
  { plan, index, goalsLeft, deliveryRates, scale }: GoalInputs,
  days: TrafficDays,
  counts: Float64Array,
): Credits {
  const pacings = new Map(plan.line_items.map((line) => [line.line_item_id, line.pacing]));
  const length = days.starts.length;
  const plans = index.lines.map(({ lineItemId, goalQuantity }, ordinal): GoalPlan | undefined => {
    if (goalQuantity === undefined) return undefined;
    const unit = 1 / scale;
    const goal = ((goalsLeft.get(lineItemId) ?? goalQuantity) / (deliveryRates.get(lineItemId) ?? 1)) * unit;
    // A part of a unit is given in as many simulations as it is large.
    const whole = Math.floor(goal + seedOf(`rounding ${lineItemId}`) / 2 ** 32);
    return planGoal(whole, counts.subarray(ordinal * length, (ordinal + 1) * length), pacings.get(lineItemId), unit);
  });
  return {
    goalOf: (ordinal) => plans[ordinal]?.goal ?? 0,
    allowed: (ordinal, day, passed) => {
      const goal = plans[ordinal];
      if (!goal) return Infinity;
      const from = goal.untilDay[day]!;
      return from + (goal.untilDay[day + 1]! - from) * passed;
    },
  };
}

const levelOf = (behind: number): UrgencyLevel => {
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
export function createCredit(
  { goals, lines }: PlanIndex,
  { allowed, goalOf }: Credits,
  used: Float64Array,
): SimulatedCredit {
  const credit = createBits(lines.length);
  const urgency = createUrgency(lines.length);
  const goalOrdinals: number[] = [];
  forEachBit(goals, (ordinal) => goalOrdinals.push(ordinal));
  const at = { day: 0, passed: 0 };
  const remaining = (ordinal: number) => allowed(ordinal, at.day, at.passed) - used[ordinal]!;
  const inputs = { credit, urgency, remaining };
  return {
    inputs,
    moveTo: (day, passed) => void Object.assign(at, { day, passed }),
    give: () => {
      credit.fill(0);
      for (const bits of urgency) bits.fill(0);
      for (const ordinal of goalOrdinals) {
        const left = remaining(ordinal);
        if (left <= 0) continue;
        addBit(credit, ordinal);
        // A simulated unit stands for many: one of it is no delay.
        const behind = (left - 1) / goalOf(ordinal);
        const level = levelOf(behind);
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
