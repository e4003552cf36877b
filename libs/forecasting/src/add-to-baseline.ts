import { addBit, buildIndex, createUrgency, type Decision, type PlanIndex } from '@longwave/ad-decision';
import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';
import type { SimulatedPlay } from './compose-plays.ts';
import { createLineSet, moveFits, type LineFits, type LineSet } from './line-fits.ts';
import { createRecords, decideAmong, lackingShare, type PlacedPick } from './replay-baseline.ts';
import {
  createPrepare,
  maxBreaks,
  opportunitiesByDay,
  pickedOrdinal,
  type DeliveryBaseline,
  type DeliveryInputs,
} from './simulate-delivery.ts';
import { allowedUntil, creditGoals, forEachBit, levelOf, type Credits } from './simulated-credit.ts';
import { createShares } from './simulated-shares.ts';
import { trafficDaysOf, type TrafficDays } from './traffic-days.ts';

/** The line items to add, and what is known of their goals. */
interface Additions extends Required<Pick<DeliveryInputs, 'goalsLeft' | 'deliveryRates'>> {
  readonly added: readonly PlanLineItem[];
}

/** Plays that no added line item fits and that are decided again at most, so that those who lost a slot find another one. */
const maxOthers = 4_000;

/** Copies the columns of credits to the places that their line items have in another plan. */
function placeCredits(from: Credits, places: readonly number[], to: Credits): void {
  const [before, after] = [from.goals.length, to.goals.length];
  places.forEach((ordinal, place) => {
    to.goals[ordinal] = from.goals[place]!;
    for (let row = 0; row * after < to.untilDay.length; row++)
      to.untilDay[row * after + ordinal] = from.untilDay[row * before + place]!;
  });
}

/** The state of a pass over the plays of a baseline. */
interface Pass {
  readonly index: PlanIndex;
  readonly credits: Credits;
  readonly days: TrafficDays;
  readonly isAdded: ReadonlySet<number>;
  readonly used: Float64Array;
  /** Line items that have less than they had, and may have it elsewhere. */
  readonly displaced: LineSet;
}

/** Decides a play among the line items that had it, the added and the displaced ones. */
function createDecideAgain({ index, credits, days, isAdded, used, displaced }: Pass) {
  const shares = createShares();
  const addShares = (play: SimulatedPlay, fits: readonly (readonly number[])[], { picks }: Decision) => {
    for (const ordinal of isAdded) {
      const offered = fits.filter((one) => one.includes(ordinal)).length;
      if (offered === 0 || index.lines[ordinal]!.sharePct === undefined) continue;
      shares.add(ordinal, play.atMs, picks.filter((pick) => pick.ordinal === ordinal).length, offered);
    }
  };
  return (
    play: SimulatedPlay,
    at: number,
    before: readonly PlacedPick[],
    /** By break the added line items that fit. */
    fits: readonly (readonly number[])[],
    frequencyRecord: ((key: string, sinceMs: number) => number) | undefined,
  ): Decision => {
    const [day, passed] = [days.dayOf[at]!, days.passed[at]!];
    const remaining = (ordinal: number) => allowedUntil(credits, ordinal, day, passed) - used[ordinal]!;
    const urgency = createUrgency(index.lines.length);
    const candidates = play.breaks.map((_, inBreak) => {
      const ordinals = new Set(fits[inBreak]);
      for (const pick of before) if (pick.inBreak === inBreak) ordinals.add(pick.ordinal);
      if (displaced.size() > 0) displaced.visitFitting(at, inBreak, (ordinal) => ordinals.add(ordinal));
      return ordinals;
    });
    for (const ordinal of new Set(candidates.flatMap((one) => [...one]))) {
      const goal = credits.goals[ordinal]!;
      const level = goal > 0 ? levelOf((remaining(ordinal) - 1) / goal) : 0;
      if (level > 0) addBit(urgency[level - 1]!, ordinal);
    }
    const decision = decideAmong(index, play, candidates, {
      ...{ remaining, urgency, frequencyRecord },
      share: (ordinal) => (isAdded.has(ordinal) ? shares.shareOf(ordinal, play.atMs) : lackingShare()),
    });
    addShares(play, fits, decision);
    return decision;
  };
}

/** The index of the plan with the added line items, and where those of both parts stand in it. */
function extendIndex(baseline: DeliveryBaseline, plan: ServingPlanDocument, { added, ...goals }: Additions) {
  const { policies, plays, scale, goalsAtMs } = baseline;
  const index = buildIndex(plan, policies);
  const ownPlan = { ...plan, line_items: [...added] };
  const own = buildIndex(ownPlan, policies);
  const ordinals = new Map(index.lines.map(({ lineItemId }, ordinal) => [lineItemId, ordinal]));
  const placesOf = ({ lines }: PlanIndex) => lines.map(({ lineItemId }) => ordinals.get(lineItemId)!);
  const [moved, addedOrdinals] = [placesOf(baseline.index), placesOf(own)];
  const days = trafficDaysOf(plays, baseline.days);
  const prepare = createPrepare(own, plays);
  const opportunities = opportunitiesByDay(own, plays, days, prepare);
  const credits: Credits = {
    untilDay: new Float64Array((days.starts.length + 1) * index.lines.length),
    goals: new Float64Array(index.lines.length),
  };
  placeCredits(baseline.credits, moved, credits);
  const ownCredits = creditGoals(
    { plan: ownPlan, index: own, days: baseline.days, scale, goalsAtMs, ...goals },
    days,
    opportunities,
  );
  placeCredits(ownCredits, addedOrdinals, credits);
  const fits: LineFits = [...moveFits(baseline.fits, moved), { prepare, ordinals: addedOrdinals }];
  return { index, moved, addedOrdinals, days, credits, prepare, fits };
}

const within = (
  before: ReadonlyMap<string, number>,
  { added }: Additions,
  now: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> =>
  new Map([...before, ...added.flatMap(({ line_item_id: id }) => (now.has(id) ? [[id, now.get(id)!] as const] : []))]);

/**
 * The baseline of a plan that has a few more line items: those plays are decided again that an added one fits while it has credit, and
 * some in which a line item that lost a slot may find another one (docs/adr/0107-a-sale-is-added-to-the-kept-baseline.md).
 * @param plan that of the baseline with the added line items
 * @returns undefined where the plays of the baseline are not those that the plan would have: with caps they are drawn by listener
 */
export function addToBaseline(
  baseline: DeliveryBaseline,
  plan: ServingPlanDocument,
  additions: Additions,
): DeliveryBaseline | undefined {
  const { plays } = baseline;
  const {
    index,
    moved,
    addedOrdinals,
    days,
    credits,
    prepare,
    fits: lineFits,
  } = extendIndex(baseline, plan, additions);
  if (index.asksListener !== baseline.index.asksListener) return undefined;
  const isAdded = new Set(addedOrdinals);
  const used = new Float64Array(index.lines.length);
  const usedBefore = new Float64Array(index.lines.length);
  const displaced = createLineSet(lineFits);
  const decideAgain = createDecideAgain({ index, credits, days, isAdded, used, displaced });
  const { listeners, hear } = createRecords({ index, baseline });
  const note = (ordinal: number) => {
    const { goalQuantity, sharePct } = index.lines[ordinal]!;
    if (isAdded.has(ordinal) || (goalQuantity ?? sharePct) === undefined) return;
    if (usedBefore[ordinal]! > used[ordinal]!) displaced.add(ordinal);
    else displaced.delete(ordinal);
  };
  const step = Math.max(1, Math.ceil(plays.length / maxOthers));
  const firstPicks = new Uint32Array(plays.length + 1);
  const picks: number[] = [];
  let nthOther = 0;
  plays.forEach((play, at) => {
    const own = baseline.picks.subarray(baseline.firstPicks[at], baseline.firstPicks[at + 1]);
    const before = Array.from(own, (pick): PlacedPick => {
      return { ordinal: moved[pickedOrdinal(pick)]!, inBreak: pick % maxBreaks };
    });
    const mayHave = (ordinal: number) =>
      allowedUntil(credits, ordinal, days.dayOf[at]!, days.passed[at]!) > used[ordinal]!;
    const fits = prepare(at).eligible.map(({ bits }) => {
      const found: number[] = [];
      forEachBit(bits, (place) => mayHave(addedOrdinals[place]!) && found.push(addedOrdinals[place]!));
      return found;
    });
    const again = fits.some(({ length }) => length > 0) || (displaced.size() > 0 && nthOther++ % step === 0);
    const { listener } = play;
    const record =
      listener === '' ? undefined : (key: string, sinceMs: number) => listeners.count(listener, key, sinceMs);
    const decided = again
      ? decideAgain(play, at, before, fits, record).picks.map(({ ordinal, breakKey }): PlacedPick => {
          return { ordinal, inBreak: play.breaks.findIndex(({ key }) => key === breakKey) };
        })
      : before;
    for (const { ordinal } of before) usedBefore[ordinal]!++;
    for (const { ordinal, inBreak } of decided) {
      used[ordinal]!++;
      picks.push(ordinal * maxBreaks + inBreak);
    }
    if (again) for (const { ordinal } of [...before, ...decided]) note(ordinal);
    firstPicks[at + 1] = picks.length;
    hear(play, decided);
  });
  return {
    ...{ ...baseline, plan, index, credits, fits: lineFits, firstPicks, picks: Uint32Array.from(picks) },
    goalsLeft: within(baseline.goalsLeft, additions, additions.goalsLeft),
    deliveryRates: within(baseline.deliveryRates, additions, additions.deliveryRates),
  };
}
