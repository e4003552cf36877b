import {
  buildIndex,
  decidePrepared,
  prepareUntraced,
  verdictCodes,
  type Decision,
  type PlanIndex,
  type PreparedPlay,
  type VerdictCode,
} from '@longwave/ad-decision';
import type { PlanLineItem, PlanPolicy, ServingPlanDocument } from '@longwave/events';
import {
  projectPlays,
  resamplePlays,
  type EqualPlays,
  type SimulatedPlay,
  type TrafficFactors,
} from './compose-plays.ts';
import type { LineFits } from './line-fits.ts';
import type { SamplePlay } from './sample-play.ts';
import { createCredit, createSetCounts, creditGoals, forEachBit, type Credits } from './simulated-credit.ts';
import { createListeners } from './simulated-listeners.ts';
import { createShares } from './simulated-shares.ts';
import { trafficDaysOf, type TrafficDays } from './traffic-days.ts';
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
  /** When they lacked them; absent: at the beginning of the days. */
  readonly goalsAtMs?: number;
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
  /** What it lacks at the beginning, also if its flight goes on after the days. Undefined without a goal of units. */
  readonly goalLeft: number | undefined;
  /** What it is to have of that in these days. */
  readonly wanted: number | undefined;
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
  /** The weighted plays from which those of equal weight were drawn: they know better how many there are. */
  readonly projected: readonly SamplePlay[];
  /** Per play the place of its first pick in `picks`, and at the end the number of picks. */
  readonly firstPicks: Uint32Array;
  /** Ordinal × 32 + number of the break in the play. */
  readonly picks: Uint32Array;
  readonly goalsLeft: ReadonlyMap<string, number>;
  readonly goalsAtMs: number;
  readonly deliveryRates: ReadonlyMap<string, number>;
  /** What each line item may be given until the end of each day. */
  readonly credits: Credits;
  readonly fits: LineFits;
}

/** What is known before plays are decided. */
type Undecided = Omit<DeliveryBaseline, 'firstPicks' | 'picks' | 'credits' | 'fits'>;

export interface DeliverySimulation {
  readonly lines: readonly LineDelivery[];
  readonly baseline: DeliveryBaseline;
}

/** Breaks of a play that a simulation can tell apart. */
export const maxBreaks = 32;

/** The line item of a pick of `DeliveryBaseline`, as the ordinal in its index. */
export const pickedOrdinal = (pick: number): number => Math.floor(pick / maxBreaks);
/** Plays that say how the opportunities of line items are spread over days. */
const maxShapePlays = 20_000;
/** Words of sets of eligible line items that a simulation keeps, so that it does not find them twice: 64 MB. */
const maxKeptWords = 16_000_000;
/** Credit is given so many times a day, as the pacer gives it from time to time; after every play it would cost more than the decisions. */
const creditsPerDay = 96;
/** Plays from one time to the next at least. */
const leastCreditPlays = 12;

/** Finds the line items that fit plays, and keeps those sets while they are few. */
export function createPrepare(index: PlanIndex, plays: readonly SimulatedPlay[]): (at: number) => PreparedPlay {
  const words = plays.reduce((sum, { breaks }) => sum + breaks.length, 0) * index.all.length;
  if (words > maxKeptWords) return (at) => prepareUntraced(index, plays[at]!);
  const kept: PreparedPlay[] = [];
  return (at) => (kept[at] ??= prepareUntraced(index, plays[at]!));
}

/** Opportunities of each line item by day, from a part of the plays: a row of all line items for each day. */
export function opportunitiesByDay(
  { lines, all }: PlanIndex,
  { length }: readonly SimulatedPlay[],
  { starts, dayOf }: TrafficDays,
  prepare: (at: number) => PreparedPlay,
): Float64Array {
  const rows = new Float64Array(lines.length * starts.length);
  const counts = createSetCounts(all.length);
  const step = Math.max(1, Math.ceil(length / maxShapePlays));
  for (let at = 0; at < length; at += step) {
    for (const { bits } of prepare(at).eligible) counts.add(bits);
    const day = dayOf[at]!;
    if (at + step >= length || dayOf[at + step] !== day)
      counts.moveInto(rows.subarray(day * lines.length, (day + 1) * lines.length), step);
  }
  return rows;
}

/**
 * What each line item with a goal of units is to have of it in the simulated days, in units of its counting basis: all that it lacks where the rest of
 * its flight lies in them, else what its plan gives in them.
 */
export function findWanted(
  baseline: Omit<DeliveryBaseline, 'firstPicks' | 'picks' | 'fits'>,
): ReadonlyMap<string, number> {
  const { plan, index, days, scale, credits, goalsLeft, goalsAtMs, deliveryRates } = baseline;
  const liesInDays = ({ window: { start, end } }: PlanLineItem) =>
    Math.max(goalsAtMs, Date.parse(start)) >= days.fromMs && Date.parse(end) <= days.toMs;
  const whole = new Set(plan.line_items.filter(liesInDays).map(({ line_item_id: id }) => id));
  const lastRow = credits.untilDay.length - index.lines.length;
  return new Map(
    index.lines.flatMap(({ lineItemId, goalQuantity }, ordinal) => {
      if (goalQuantity === undefined) return [];
      const planned = credits.untilDay[lastRow + ordinal]! * scale * (deliveryRates.get(lineItemId) ?? 1);
      return [[lineItemId, whole.has(lineItemId) ? (goalsLeft.get(lineItemId) ?? goalQuantity) : planned] as const];
    }),
  );
}

/** Sums of a running simulation. */
function createTally({ index, plays }: Pick<DeliveryBaseline, 'index' | 'plays'>, { starts }: TrafficDays) {
  const lines = index.lines.length;
  const codes = new Map<VerdictCode, number>(verdictCodes.map((code, at) => [code, at]));
  const tally = {
    delivered: new Float64Array(lines * starts.length),
    used: new Float64Array(lines),
    verdicts: new Float64Array(lines * verdictCodes.length),
    firstPicks: new Uint32Array(plays.length + 1),
    picks: [] as number[],
  };
  const countVerdict = (ordinal: number, code: VerdictCode) =>
    tally.verdicts[ordinal * verdictCodes.length + codes.get(code)!]!++;
  const addVerdicts = ({ verdicts }: Decision) => {
    for (const { considered, withoutCredit } of verdicts) {
      for (const [ordinal, code] of considered) countVerdict(ordinal, code);
      if (withoutCredit) forEachBit(withoutCredit, (ordinal) => countVerdict(ordinal, 'no_lease'));
    }
  };
  const addPicks = (at: number, day: number, { picks }: Decision) => {
    const breaks = plays[at]!.breaks;
    for (const { ordinal, breakKey } of picks) {
      tally.used[ordinal]!++;
      tally.delivered[ordinal * starts.length + day]!++;
      tally.picks.push(ordinal * maxBreaks + breaks.findIndex(({ key }) => key === breakKey));
    }
    tally.firstPicks[at + 1] = tally.picks.length;
  };
  return { ...tally, addPicks, addVerdicts };
}

type Tally = ReturnType<typeof createTally>;

function linesOf(
  baseline: Undecided & Pick<DeliveryBaseline, 'credits'>,
  { starts }: TrafficDays,
  tally: Tally,
  opportunities: Float64Array,
) {
  const { index, scale, deliveryRates, goalsLeft } = baseline;
  const wanted = findWanted(baseline);
  return index.lines.map(({ lineItemId, goalQuantity }, ordinal): LineDelivery => {
    const units = scale * (deliveryRates.get(lineItemId) ?? 1);
    const ofDay = (day: number) => tally.delivered[ordinal * starts.length + day]! * units;
    const eligible = starts.reduce((sum, _, day) => sum + opportunities[day * index.lines.length + ordinal]!, 0);
    const counted = verdictCodes.map((code, at) => ({
      code,
      breaks: tally.verdicts[ordinal * verdictCodes.length + at]!,
    }));
    // What was not looked at stood behind others.
    const unseen = Math.max(0, eligible - counted.reduce((sum, { breaks }) => sum + breaks, 0));
    return {
      lineItemId,
      goalLeft: goalQuantity === undefined ? undefined : (goalsLeft.get(lineItemId) ?? goalQuantity),
      wanted: wanted.get(lineItemId),
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

/**
 * Decides plays of equal weight one after another, with credits, listeners and shares of the simulation itself.
 * @returns the baseline, and the deliveries of its line items when they are asked for, without verdicts where these were not counted
 */
function decidePlays(
  inputs: Undecided,
  countsVerdicts: boolean,
): { readonly baseline: DeliveryBaseline; readonly readLines: () => readonly LineDelivery[] } {
  const { index, plays, days } = inputs;
  const trafficDays = trafficDaysOf(plays, days);
  const [listeners, shares] = [createListeners(), createShares()];
  const prepare = createPrepare(index, plays);
  const opportunities = opportunitiesByDay(index, plays, trafficDays, prepare);
  const tally = createTally(inputs, trafficDays);
  const credits = creditGoals(inputs, trafficDays, opportunities);
  const credit = createCredit(index, credits, tally.used);
  const creditPlays = Math.max(leastCreditPlays, plays.length / trafficDays.starts.length / creditsPerDay);
  const ordinals = new Map(index.lines.map(({ lineItemId }, ordinal) => [lineItemId, ordinal]));
  let nextCredit = 0;
  plays.forEach((play, at) => {
    const { listener, atMs } = play;
    const day = trafficDays.dayOf[at]!;
    credit.moveTo(day, trafficDays.passed[at]!);
    if (at >= nextCredit || day !== trafficDays.dayOf[at - 1]) {
      credit.give();
      nextCredit = at + creditPlays;
    }
    const counters = {
      ...credit.inputs,
      share: (ordinal: number) => shares.shareOf(ordinal, atMs),
      frequencyRecord:
        listener === '' ? undefined : (key: string, sinceMs: number) => listeners.count(listener, key, sinceMs),
    };
    const decision = decidePrepared(prepare(at), counters, { isTraced: false });
    tally.addPicks(at, day, decision);
    if (countsVerdicts) tally.addVerdicts(decision);
    for (const { ordinal, capKeys } of decision.picks) {
      credit.use(ordinal);
      listeners.hear(listener, capKeys, atMs);
    }
    if (decision.opportunities.length === 0) return;
    for (const lineItemId of decision.opportunities) shares.add(ordinals.get(lineItemId)!, atMs, 0, 1);
    for (const { ordinal } of decision.picks)
      if (index.lines[ordinal]!.sharePct !== undefined) shares.add(ordinal, atMs, 1, 0);
  });
  const { firstPicks } = tally;
  const fits = [{ prepare, ordinals: index.lines.map((_, ordinal) => ordinal) }];
  return {
    readLines: () => linesOf({ ...inputs, credits }, trafficDays, tally, opportunities),
    baseline: { ...inputs, credits, firstPicks, picks: Uint32Array.from(tally.picks), fits },
  };
}

function simulate(inputs: Undecided): DeliverySimulation {
  const { baseline, readLines } = decidePlays(inputs, true);
  return { baseline, lines: readLines() };
}

/** Draws the plays of the window, unless those of another baseline are to be decided, which has the same sample, days and count. */
function prepareInputs(
  {
    plan,
    policies = [],
    plays,
    days,
    goalsLeft = new Map(),
    goalsAtMs = days.fromMs,
    deliveryRates = new Map(),
    trafficFactors,
    count = 40_000,
    seed = 1,
  }: DeliveryInputs,
  other?: DeliveryBaseline,
): Undecided {
  const index = buildIndex(plan, policies);
  const inputs = { plan, policies, index, days, goalsLeft, goalsAtMs, deliveryRates };
  // With caps plays are drawn by listener.
  if (other && other.index.asksListener === index.asksListener)
    return { ...inputs, projected: other.projected, plays: other.plays, scale: other.scale };
  const projected = projectPlays(plays, days, trafficFactors);
  return { ...inputs, projected, ...resamplePlays(projected, { count, seed, byListener: index.asksListener }) };
}

/**
 * Decides the plays of the window as `simulateDelivery` does, for questions about one more line item alone.
 * @param other a baseline of another plan for the same sample, days and count: its plays need not be drawn again
 */
export const makeBaseline = (inputs: DeliveryInputs, other?: DeliveryBaseline): DeliveryBaseline =>
  decidePlays(prepareInputs(inputs, other), false).baseline;

/** Decides the plays of the window one after another by `decide`, as the pacer would give credit (docs/forecasting.md#delivery). */
export const simulateDelivery = (inputs: DeliveryInputs): DeliverySimulation => simulate(prepareInputs(inputs));

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
  /** Why p50 is short of what it is to have in the days: the most frequent verdict. Undefined when it is not. */
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
  const scaled = (factor: number) => simulate({ ...baseline, scale: baseline.scale * factor }).lines;
  const [low, high] = [scaled(traffic.low), scaled(traffic.high)];
  return {
    baseline,
    lines: lines.map((line, at): DeliveryQuantiles => {
      const { lineItemId, goalLeft, wanted, delivered, verdicts } = line;
      const isShort = wanted !== undefined && delivered < wanted * (1 - shortFrom);
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
