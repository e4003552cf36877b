import { buildIndex, preparePlay } from '@longwave/ad-decision';
import type { PlanLineItem } from '@longwave/events';
import { displaceLines, type Displacement, type ReplayedPlay } from './displace-lines.ts';
import { createVerdicts, findMatched, indexAlone, type Matched } from './find-matched.ts';
import { createGroupSums, listenerGroupOf } from './listener-groups.ts';
import { createRecords, decideAmong, extendBaseline, lackingShare, type Extended } from './replay-baseline.ts';
import { simulateDelivery, type DeliveryBaseline, type DeliveryInputs } from './simulate-delivery.ts';
import { forEachBit } from './simulated-credit.ts';
import { flightDaysOf, planGoal } from './spread-goals.ts';
import { trafficDaysOf, type TrafficDays } from './traffic-days.ts';
import type { TimeRange } from './traffic-history.ts';

export interface AvailabilityInputs extends DeliveryInputs {
  /** The line item that is not yet in the plan; one of its id in the plan is left out. */
  readonly prospective: PlanLineItem;
  /** Of this plan, over the window or more; made anew when it is absent. */
  readonly baseline?: DeliveryBaseline;
  /** Plays that are decided again among all line items at most; a part of those that matter is taken if they are more. Absent: all. */
  readonly maxPlays?: number;
}

interface Contender {
  readonly lineItemId: string;
  /** Units that it loses. */
  readonly loses: number;
  /** What its goal lacks; undefined when it has none of units. */
  readonly ofGoal: number | undefined;
  readonly tier: PlanLineItem['type'];
  readonly priority: number;
}

/** Units of the line item's counting basis in its window, as far as the simulated days hold it. */
export interface Availability {
  /** Breaks that fit. */
  readonly capacity: number;
  /** Behind every guaranteed line item; of a day at most what its daily maximum lets it have. */
  readonly available: number;
  /** At its own priority; at most `quantity`. */
  readonly possible: number;
  /** What its daily maximum lets it have of a day, and of the days in which there are breaks that fit; Infinity without one. */
  readonly mostOfDay: number;
  readonly mostOfDays: number;
  readonly byDay: readonly { readonly dayMs: number; readonly capacity: number; readonly available: number }[];
  /** At most 50, the largest first. */
  readonly byPodcast: readonly { readonly podcastId: string; readonly capacity: number; readonly available: number }[];
  /** Line items that have less if it stands at its own place than if it stands behind, by 0.5 % of their goal or 100 units at least; at most 50, the largest loss first. */
  readonly contending: readonly Contender[];
  /** Of a sponsorship or an exclusive line item: per cent that others of these were sold of a break that it fits, at most. */
  readonly shareTaken: number;
  readonly matched: Matched;
  /** Standard error of `available` relative to it: jackknife over 20 groups of listeners. */
  readonly samplingError: number;
  readonly sample: {
    readonly days: number;
    readonly rows: number;
    readonly effective: number;
    /** Plays that were decided again. */
    readonly replayed: number;
  };
}

const maxListed = 50;
/** Few simulated plays are chance. */
const leastLoss = { units: 100, ofGoal: 0.005, plays: 5 };
/** Plays decided among few line items cost about a quarter of others. */
const fewToAll = 4;

/** The plays that the prospective line item fits, with the number of breaks. */
interface MatchingPlay {
  readonly at: number;
  readonly fits: readonly boolean[];
  readonly breaks: number;
}

function findMatching(
  { baseline }: Extended,
  line: PlanLineItem,
  { fromMs, toMs }: TimeRange,
): readonly MatchingPlay[] {
  const verdictsOf = createVerdicts(indexAlone(line, { policies: baseline.policies, floors: baseline.plan.floors }));
  return baseline.plays.flatMap((play, at) => {
    if (play.atMs < fromMs || play.atMs >= toMs) return [];
    const fits = verdictsOf(play).map((verdict) => verdict === 'won');
    const breaks = fits.filter((one) => one).length;
    return breaks > 0 ? [{ at, fits, breaks }] : [];
  });
}

/** Behind every guaranteed line item. The slots of better ones stay where they are, so the play is decided among those that had them. */
interface Behind {
  /** By day; units of the simulation. */
  readonly won: Float64Array;
  readonly byPodcast: ReadonlyMap<string, number>;
  readonly lost: Float64Array;
  readonly samplingError: number;
  readonly replayed: number;
}

/** @param most units of the simulation that it may be given of a day: a full day takes no more plays, and a part of the last one */
function runBehind(
  extended: Extended,
  matching: readonly MatchingPlay[],
  days: TrafficDays,
  { maxPlays, most }: { readonly maxPlays: number; readonly most: number },
): Behind {
  const { index, baseline, behind, picksOf } = extended;
  const { listeners, hear } = createRecords({ index, baseline });
  const step = Math.max(1, Math.ceil(matching.length / maxPlays));
  const won = new Float64Array(days.starts.length);
  const byPodcast = new Map<string, number>();
  const lost = new Float64Array(index.lines.length);
  const groups = createGroupSums();
  let replayed = 0;
  for (let nth = 0; nth < matching.length; nth += step) {
    const { at, fits, breaks } = matching[nth]!;
    const day = days.dayOf[at]!;
    const left = most - won[day]!;
    if (left <= 0) continue;
    const play = baseline.plays[at]!;
    const before = picksOf(at);
    const candidates = play.breaks.map((_, inBreak) => {
      const ordinals = new Set(before.filter((pick) => pick.inBreak === inBreak).map(({ ordinal }) => ordinal));
      return fits[inBreak] ? ordinals.add(behind) : ordinals;
    });
    const { picks } = decideAmong(index, play, candidates, {
      remaining: () => Infinity,
      share: lackingShare,
      frequencyRecord:
        play.listener === '' ? undefined : (key, sinceMs) => listeners.count(play.listener, key, sinceMs),
    });
    const mine = picks.filter(({ ordinal }) => ordinal === behind);
    const units = Math.min(left, mine.length * step);
    won[day]! += units;
    byPodcast.set(play.podcastId, (byPodcast.get(play.podcastId) ?? 0) + units);
    for (const { ordinal } of before) lost[ordinal]! += step;
    for (const { ordinal } of picks) if (ordinal !== behind) lost[ordinal]! -= step;
    hear(
      play,
      mine.map(({ ordinal, breakKey }) => ({ ordinal, inBreak: play.breaks.findIndex(({ key }) => key === breakKey) })),
    );
    groups.add(play.podcastId, listenerGroupOf(play, at), breaks, mine.length);
    replayed++;
  }
  return { won, byPodcast, lost, samplingError: groups.relativeError(), replayed };
}

/** The plays to decide again: half of them that match, and half in which displaced line items may find what they lost. */
function chooseReplayed(plays: number, matching: readonly MatchingPlay[], maxPlays: number): readonly ReplayedPlay[] {
  const others = plays - matching.length;
  const forMatching = Math.max(maxPlays / 2, maxPlays - others);
  const [own, other] = [
    Math.max(1, Math.ceil(matching.length / forMatching)),
    Math.max(1, Math.ceil(others / Math.max(1, maxPlays - Math.min(matching.length, forMatching)))),
  ];
  const chosen: ReplayedPlay[] = [];
  let [next, nthOther] = [0, 0];
  for (let at = 0; at < plays; at++)
    if (matching[next]?.at === at) {
      const { fits } = matching[next]!;
      if (next++ % own === 0) chosen.push({ at, unit: own, fits });
    } else if (nthOther++ % other === 0) chosen.push({ at, unit: other, fits: undefined });
  return chosen;
}

function runInPlace(
  extended: Extended,
  { prospective, maxPlays = Infinity, deliveryRates }: AvailabilityInputs,
  matching: readonly MatchingPlay[],
  trafficDays: TrafficDays,
): (quantity: number | undefined) => Displacement {
  const { starts, dayOf, passed } = trafficDays;
  const { plays, scale, days } = extended.baseline;
  const opportunities = new Float64Array(starts.length);
  for (const { at, breaks } of matching) opportunities[dayOf[at]!]! += breaks;
  const replayed = chooseReplayed(plays.length, matching, maxPlays);
  if (prospective.goal.unit === 'share_pct') {
    const share = prospective.goal.quantity! / 100;
    const offered = new Float64Array(plays.length);
    for (const { at, breaks } of matching) offered[at] = breaks;
    for (let at = 1; at < offered.length; at++) offered[at]! += offered[at - 1]!;
    return () => displaceLines(extended, replayed, (at) => share * offered[at]!);
  }
  const rate = deliveryRates?.get(prospective.line_item_id) ?? 1;
  const { inside } = flightDaysOf(prospective.window, trafficDays, days, days.fromMs);
  return (quantity) => {
    if (quantity === undefined) return displaceLines(extended, replayed, () => Infinity);
    const asked = Math.round(quantity / rate / scale);
    const flight = { inside, before: 0, after: 0 };
    const untilDay = planGoal(asked, opportunities, flight, prospective.pacing, 1 / scale);
    return displaceLines(extended, replayed, (at) => {
      const from = untilDay[dayOf[at]!]!;
      return from + (untilDay[dayOf[at]! + 1]! - from) * passed[at]!;
    });
  };
}

/** What sponsorships and exclusive line items were sold of a break that one more of them fits, at most: one that is exclusive has all of it. */
function findShareTaken(
  { plan, policies, plays }: DeliveryBaseline,
  line: PlanLineItem,
  matching: readonly MatchingPlay[],
) {
  const shares = (type: PlanLineItem['type']) => type === 'sponsorship' || type === 'exclusive';
  if (!shares(line.type)) return 0;
  const others = plan.line_items.filter(({ type, line_item_id: id }) => shares(type) && id !== line.line_item_id);
  if (others.length === 0) return 0;
  const index = buildIndex({ ...plan, line_items: others }, policies);
  let most = 0;
  for (const { at, fits } of matching)
    for (const [inBreak, { bits }] of preparePlay(index, plays[at]!).eligible.entries()) {
      if (!fits[inBreak]) continue;
      let taken = 0;
      forEachBit(bits, (ordinal) => (taken += index.lines[ordinal]!.sharePct ?? 100));
      most = Math.max(most, taken);
    }
  return most;
}

function contendersOf({ index, baseline }: Extended, ahead: Displacement, behind: Behind): readonly Contender[] {
  const { scale, deliveryRates, goalsLeft } = baseline;
  return index.lines
    .flatMap(({ lineItemId, type, priority, goalQuantity }, ordinal): Contender[] => {
      const units = scale * (deliveryRates.get(lineItemId) ?? 1);
      const loses = (ahead.lost[ordinal]! - behind.lost[ordinal]!) * units;
      const ofGoal = goalQuantity === undefined ? undefined : (goalsLeft.get(lineItemId) ?? goalQuantity);
      if (loses < Math.min(leastLoss.units, leastLoss.ofGoal * (ofGoal ?? Infinity)) || loses < leastLoss.plays * units)
        return [];
      return [{ lineItemId, loses, ofGoal, tier: type, priority }];
    })
    .sort((a, b) => b.loses - a.loses)
    .slice(0, maxListed);
}

/** Answers how much there is, and who would have less, for a quantity that is asked for; undefined: for as many as there are. */
export type AskQuantity = (quantity?: number) => Availability;

/**
 * How much of the coming traffic one more line item could have, and who would have less (docs/forecasting.md#availability). What is the same for
 * every quantity is found once: a further quantity costs a part of the first.
 */
export function askAvailability(inputs: AvailabilityInputs): AskQuantity {
  const { prospective, plays, deliveryRates, maxPlays = Infinity } = inputs;
  const baseline = inputs.baseline ?? simulateDelivery(inputs).baseline;
  const { days, policies, plan, scale } = baseline;
  const window = {
    fromMs: Math.max(days.fromMs, Date.parse(prospective.window.start)),
    toMs: Math.min(days.toMs, Date.parse(prospective.window.end)),
  };
  const projected = baseline.projected.filter(({ atMs }) => atMs >= window.fromMs && atMs < window.toMs);
  const matched = findMatched(prospective, projected, { timeZone: days.timeZone, policies, floors: plan.floors });
  const extended = extendBaseline(baseline, prospective);
  const matching = findMatching(extended, prospective, window);
  const trafficDays = trafficDaysOf(baseline.plays, days);
  const rate = deliveryRates?.get(prospective.line_item_id) ?? 1;
  const simulated = matching.reduce((sum, { breaks }) => sum + breaks, 0);
  // The weighted sample knows better how many breaks there are than the plays that were drawn from it.
  const decided = simulated === 0 ? scale : matched.capacity / simulated;
  const units = decided * rate;
  const dailyMax = prospective.pacing?.daily_max;
  const [most, mostOfDay] = dailyMax === undefined ? [Infinity, Infinity] : [dailyMax / decided, dailyMax * rate];
  const behind = runBehind(extended, matching, trafficDays, { maxPlays: maxPlays * fewToAll, most });
  const inPlace = runInPlace(extended, inputs, matching, trafficDays);
  // A full day has exactly its most.
  const availableOf = (won: number) => (won >= most ? mostOfDay : won * units);
  const available = behind.won.reduce((sum, won) => sum + availableOf(won), 0);
  const found = {
    capacity: matched.capacity * rate,
    available: Math.min(available, matched.capacity * rate),
    mostOfDay,
    mostOfDays: mostOfDay * Math.max(1, matched.byDay.size),
    byDay: trafficDays.starts.flatMap((dayMs, day) => {
      const capacity = matched.byDay.get(dayMs)?.capacity;
      return capacity === undefined
        ? []
        : [{ dayMs, capacity: capacity * rate, available: availableOf(behind.won[day]!) }];
    }),
    byPodcast: [...matched.byPodcast]
      .map(([podcastId, { capacity }]) => ({
        podcastId,
        capacity: capacity * rate,
        available: (behind.byPodcast.get(podcastId) ?? 0) * units,
      }))
      .sort((a, b) => b.capacity - a.capacity)
      .slice(0, maxListed),
    shareTaken: findShareTaken(baseline, prospective, matching),
    matched,
    samplingError: behind.samplingError,
    sample: {
      days: new Set(plays.map(({ atMs }) => Math.floor(atMs / 86_400_000))).size,
      rows: matched.rows,
      effective: matched.effectiveRows,
      replayed: behind.replayed,
    },
  };
  return (quantity) => {
    const ahead = inPlace(quantity);
    const possible = Math.min(ahead.won * units, quantity ?? Infinity, found.mostOfDays);
    return { ...found, possible, contending: contendersOf(extended, ahead, behind) };
  };
}

/** The answer to one quantity. */
export const findAvailability = ({
  quantity,
  ...inputs
}: AvailabilityInputs & { readonly quantity?: number }): Availability => askAvailability(inputs)(quantity);
