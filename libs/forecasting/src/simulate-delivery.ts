import {
  addBit,
  buildIndex,
  createBits,
  createUrgency,
  decidePrepared,
  preparePlay,
  seedOf,
  setUrgency,
  verdictCodes,
  type Bits,
  type Decision,
  type DecisionInputs,
  type PlanIndex,
  type VerdictCode,
} from '@longwave/ad-decision';
import type { PlanPolicy, ServingPlanDocument } from '@longwave/events';
import {
  daysIn,
  projectPlays,
  resamplePlays,
  type EqualPlays,
  type SimulatedPlay,
  type TrafficFactors,
} from './compose-plays.ts';
import { createLocalTime } from './local-time.ts';
import type { SamplePlay } from './sample-play.ts';
import { createListeners } from './simulated-listeners.ts';
import { createShares } from './simulated-shares.ts';
import { planGoal, type GoalPlan } from './spread-goals.ts';
import type { TimeRange } from './traffic-history.ts';

/** What a simulation of delivery is made of. */
export interface DeliveryInputs {
  readonly plan: ServingPlanDocument;
  readonly policies?: readonly PlanPolicy[];
  /** Of some whole weeks before the window. */
  readonly plays: readonly SamplePlay[];
  readonly days: TimeRange & { readonly timeZone: string };
  /** Units that each line item with a goal still lacks, of its counting basis; absent: its whole goal. */
  readonly goalsLeft?: ReadonlyMap<string, number>;
  /** Confirmed ÷ decided; absent: 1. */
  readonly deliveryRates?: ReadonlyMap<string, number>;
  readonly trafficFactors?: TrafficFactors;
  /** Plays that are decided; 40,000 unless said. */
  readonly count?: number;
  readonly seed?: number;
}

/** Units of one line item in the real traffic of the window, in its counting basis (decided × delivery rate). */
interface LineDelivery {
  readonly lineItemId: string;
  /** Undefined without a goal of units. */
  readonly goalLeft: number | undefined;
  readonly delivered: number;
  readonly byDay: readonly { readonly dayMs: number; readonly delivered: number }[];
  /** Breaks that it could have served in, whatever competes. */
  readonly eligible: number;
  /** Why it did not have more, the most frequent first; breaks. */
  readonly verdicts: readonly { readonly code: VerdictCode; readonly breaks: number }[];
}

/** The simulated decisions, for questions about one more line item. In memory only; kept by the digest of its plan. */
export interface DeliveryBaseline extends EqualPlays {
  readonly plan: ServingPlanDocument;
  readonly policies: readonly PlanPolicy[];
  readonly index: PlanIndex;
  readonly days: TimeRange & { readonly timeZone: string };
  /** Per play the place of its first pick in `picks`, and at the end the number of picks. */
  readonly firstPicks: Uint32Array;
  /** Ordinal × 32 + number of the break in the play. */
  readonly picks: Uint32Array;
  readonly goalsLeft: ReadonlyMap<string, number>;
  readonly deliveryRates: ReadonlyMap<string, number>;
}

export interface DeliverySimulation {
  readonly lines: readonly LineDelivery[];
  readonly baseline: DeliveryBaseline;
}

/** Breaks of a play that a simulation can tell apart. */
export const maxBreaks = 32;
/** Plays that say how the opportunities of line items are spread over days. */
const maxShapePlays = 20_000;
const noFailures = () => [];

/** The play with its eligible line items; reasons of others, which only a trace reads, are left out. */
export function prepareSimulated(index: PlanIndex, play: SimulatedPlay) {
  const prepared = preparePlay(index, play);
  return { ...prepared, eligible: prepared.eligible.map((one) => ({ ...one, failures: noFailures })) };
}

type Eligible = ReturnType<typeof prepareSimulated>['eligible'][number];

function forEachBit(bits: Bits, visit: (ordinal: number) => void): void {
  for (let word = 0; word < bits.length; word++)
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) visit(word * 32 + 31 - Math.clz32(rest & -rest));
}

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

/** What the line items of a plan may be given at a time. */
interface Credits {
  /** Decided units that the plan allows so far, without those that were given; Infinity without a goal. */
  readonly allowed: (ordinal: number, day: number, passed: number) => number;
  /** 0 without a goal. */
  readonly goalOf: (ordinal: number) => number;
}

/** Opportunities of each line item with a goal by day, from a part of the plays; row after row. */
function opportunitiesByDay(index: PlanIndex, plays: readonly SimulatedPlay[], { starts, dayOf }: TrafficDays) {
  const counts = new Float64Array(index.lines.length * starts.length);
  const step = Math.max(1, Math.ceil(plays.length / maxShapePlays));
  for (let at = 0; at < plays.length; at += step)
    for (const { bits } of preparePlay(index, plays[at]!).eligible)
      forEachBit(bits, (ordinal) => (counts[ordinal * starts.length + dayOf[at]!]! += step));
  return counts;
}

type GoalInputs = Pick<DeliveryBaseline, 'plan' | 'index' | 'goalsLeft' | 'deliveryRates' | 'scale' | 'plays'>;

/** Spreads the goals of a plan over the days of its simulation. */
function creditGoals({ plan, index, goalsLeft, deliveryRates, scale, plays }: GoalInputs, days: TrafficDays): Credits {
  const counts = opportunitiesByDay(index, plays, days);
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

/** Sums of a running simulation. */
function createTally({ index, plays }: Pick<DeliveryBaseline, 'index' | 'plays'>, { starts }: TrafficDays) {
  const lines = index.lines.length;
  const codes = new Map<VerdictCode, number>(verdictCodes.map((code, at) => [code, at]));
  const tally = {
    delivered: new Float64Array(lines * starts.length),
    used: new Float64Array(lines),
    eligible: new Float64Array(lines),
    verdicts: new Float64Array(lines * verdictCodes.length),
    firstPicks: new Uint32Array(plays.length + 1),
    picks: [] as number[],
  };
  const countVerdict = (ordinal: number, code: VerdictCode) =>
    tally.verdicts[ordinal * verdictCodes.length + codes.get(code)!]!++;
  const add = (at: number, day: number, { picks, verdicts }: Decision) => {
    const breaks = plays[at]!.breaks;
    for (const { considered, eligible, withoutCredit } of verdicts) {
      forEachBit(eligible, (ordinal) => tally.eligible[ordinal]!++);
      for (const [ordinal, code] of considered) countVerdict(ordinal, code);
      if (withoutCredit) forEachBit(withoutCredit, (ordinal) => countVerdict(ordinal, 'no_lease'));
    }
    for (const { ordinal, breakKey } of picks) {
      tally.used[ordinal]!++;
      tally.delivered[ordinal * starts.length + day]!++;
      tally.picks.push(ordinal * maxBreaks + breaks.findIndex(({ key }) => key === breakKey));
    }
    tally.firstPicks[at + 1] = tally.picks.length;
  };
  return { ...tally, add };
}

type Tally = ReturnType<typeof createTally>;

function linesOf(baseline: Omit<DeliveryBaseline, 'firstPicks' | 'picks'>, { starts }: TrafficDays, tally: Tally) {
  const { index, scale, deliveryRates, goalsLeft } = baseline;
  return index.lines.map(({ lineItemId, goalQuantity }, ordinal): LineDelivery => {
    const units = scale * (deliveryRates.get(lineItemId) ?? 1);
    const ofDay = (day: number) => tally.delivered[ordinal * starts.length + day]! * units;
    const eligible = tally.eligible[ordinal]!;
    const counted = verdictCodes.map((code, at) => ({
      code,
      breaks: tally.verdicts[ordinal * verdictCodes.length + at]!,
    }));
    // What was not looked at stood behind others.
    const unseen = eligible - counted.reduce((sum, { breaks }) => sum + breaks, 0);
    return {
      lineItemId,
      goalLeft: goalQuantity === undefined ? undefined : (goalsLeft.get(lineItemId) ?? goalQuantity),
      delivered: tally.used[ordinal]! * units,
      byDay: starts.map((dayMs, day) => ({ dayMs, delivered: ofDay(day) })),
      eligible: eligible * scale,
      verdicts: counted
        .map(({ code, breaks }) => ({ code, breaks: (breaks + (code === 'outranked' ? unseen : 0)) * scale }))
        .filter(({ code, breaks }) => breaks > 0 && code !== 'won')
        .sort((a, b) => b.breaks - a.breaks),
    };
  });
}

/** Goals that are behind their plan by so many hundredths have urgency 1, 2 and 3. */
const urgencySteps = [0.005, 0.015, 0.04];

/** Credit and urgency of the line items with a goal that fit a play. */
function createGoalInputs({ goals, lines }: PlanIndex, { allowed, goalOf }: Credits, used: Float64Array) {
  return (eligible: readonly Eligible[], day: number, passed: number): DecisionInputs => {
    const credit = createBits(lines.length);
    const urgency = createUrgency(lines.length);
    for (const { bits } of eligible)
      for (let word = 0; word < bits.length; word++)
        for (let rest = bits[word]! & goals[word]!; rest !== 0; rest &= rest - 1) {
          const ordinal = word * 32 + 31 - Math.clz32(rest & -rest);
          const left = allowed(ordinal, day, passed) - used[ordinal]!;
          if (left <= 0) continue;
          addBit(credit, ordinal);
          // A simulated unit stands for many: one of it is no delay.
          const behind = (left - 1) / goalOf(ordinal);
          const level = urgencySteps.filter((step) => behind > step).length;
          if (level > 0) setUrgency(urgency, ordinal, level as 1 | 2 | 3);
        }
    const remaining = (ordinal: number) => allowed(ordinal, day, passed) - used[ordinal]!;
    return { credit, urgency, remaining, share: () => ({ served: 0, opportunities: 0 }) };
  };
}

/** Decides plays of equal weight one after another, with credits, listeners and shares of the simulation itself. */
function decidePlays(inputs: Omit<DeliveryBaseline, 'firstPicks' | 'picks'>): DeliverySimulation {
  const { index, plays, days } = inputs;
  const trafficDays = trafficDaysOf(plays, days);
  const [listeners, shares] = [createListeners(), createShares()];
  const tally = createTally(inputs, trafficDays);
  const goalInputs = createGoalInputs(index, creditGoals(inputs, trafficDays), tally.used);
  const ordinals = new Map(index.lines.map(({ lineItemId }, ordinal) => [lineItemId, ordinal]));
  plays.forEach((play, at) => {
    const { listener, atMs } = play;
    const day = trafficDays.dayOf[at]!;
    const prepared = prepareSimulated(index, play);
    const decision = decidePrepared(prepared, {
      ...goalInputs(prepared.eligible, day, trafficDays.passed[at]!),
      share: (ordinal) => shares.shareOf(ordinal, atMs),
      frequencyRecord: listener === '' ? undefined : (key, sinceMs) => listeners.count(listener, key, sinceMs),
    });
    tally.add(at, day, decision);
    for (const { capKeys } of decision.picks) listeners.hear(listener, capKeys, atMs);
    if (decision.opportunities.length === 0) return;
    for (const lineItemId of decision.opportunities) shares.add(ordinals.get(lineItemId)!, atMs, 0, 1);
    for (const { ordinal } of decision.picks)
      if (index.lines[ordinal]!.sharePct !== undefined) shares.add(ordinal, atMs, 1, 0);
  });
  const { firstPicks } = tally;
  return {
    lines: linesOf(inputs, trafficDays, tally),
    baseline: { ...inputs, firstPicks, picks: Uint32Array.from(tally.picks) },
  };
}

/** Decides the plays of the window one after another by `decide`, as the pacer would give credit (docs/forecasting.md#delivery). */
export function simulateDelivery({
  plan,
  policies = [],
  plays,
  days,
  goalsLeft = new Map(),
  deliveryRates = new Map(),
  trafficFactors,
  count = 40_000,
  seed = 1,
}: DeliveryInputs): DeliverySimulation {
  const index = buildIndex(plan, policies);
  const projected = projectPlays(plays, days, trafficFactors);
  const equal = resamplePlays(projected, { count, seed, byListener: index.asksListener });
  return decidePlays({ plan, policies, index, days, goalsLeft, deliveryRates, ...equal });
}

export interface DeliveryQuantiles {
  readonly lineItemId: string;
  /** Undefined without a goal of units. */
  readonly goalLeft: number | undefined;
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
  readonly byDay: readonly {
    readonly dayMs: number;
    readonly p10: number;
    readonly p50: number;
    readonly p90: number;
  }[];
  /** Why p50 is short of its goal: the most frequent verdict. Undefined when it is not. */
  readonly shortBy: VerdictCode | undefined;
}

/** Short by more than this share of the goal, so that the rounding of simulated units is no shortage. */
const shortFrom = 0.02;

/**
 * Three simulations of the same plays: of the expected traffic, and of the ends of its interval, where each play stands for less and for more.
 * @param traffic ends of the 80 % interval of the traffic ÷ its middle, for example 0.85 and 1.18
 */
export function forecastDelivery(
  inputs: DeliveryInputs,
  traffic: { readonly low: number; readonly high: number },
): { readonly lines: readonly DeliveryQuantiles[]; readonly baseline: DeliveryBaseline } {
  const { lines, baseline } = simulateDelivery(inputs);
  const scaled = (factor: number) => decidePlays({ ...baseline, scale: baseline.scale * factor }).lines;
  const [low, high] = [scaled(traffic.low), scaled(traffic.high)];
  return {
    baseline,
    lines: lines.map((line, at): DeliveryQuantiles => {
      const { lineItemId, goalLeft, delivered, verdicts } = line;
      const isShort = goalLeft !== undefined && delivered < goalLeft * (1 - shortFrom);
      return {
        ...{ lineItemId, goalLeft },
        ...ordered(low[at]!.delivered, delivered, high[at]!.delivered),
        byDay: line.byDay.map((one, day) => ({
          dayMs: one.dayMs,
          ...ordered(low[at]!.byDay[day]!.delivered, one.delivered, high[at]!.byDay[day]!.delivered),
        })),
        shortBy: isShort ? (verdicts[0]?.code ?? 'not_active') : undefined,
      };
    }),
  };
}

/** More traffic may leave a line item less of a day, or of a slot that others then reach. */
function ordered(low: number, p50: number, high: number) {
  return { p10: Math.min(low, p50, high), p50, p90: Math.max(low, p50, high) };
}
