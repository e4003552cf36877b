import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';
import {
  addToBaseline,
  makeBaseline,
  type DeliveryBaseline,
  type TimeRange,
  type TrafficModel,
} from '@longwave/forecasting';
import { LRUCache } from 'lru-cache';
import { findAdded } from './find-added.ts';
import { aheadOf, deliveryInputs, goalsOf, modelOf, thinAhead, type ForecastInputs } from './forecast-inputs.ts';

/** Plays that are decided while somebody waits: an error of some 3 per cent. */
export const interactivePlays = 10_000;

/** A baseline: the decisions of a window by everything that is sold but the line item that is asked about, and the curves behind it. */
interface Kept {
  readonly baseline: DeliveryBaseline;
  readonly model: TrafficModel;
}

interface Entry extends Kept {
  /** The terms that a question must have in common with it. */
  readonly terms: string;
  /** Episodes that were to come out, each with its time. */
  readonly scheduled: Releases;
  /** The basis: facts of the traffic that were known. */
  readonly basis: string;
  readonly isWide: boolean;
  /** The plan of everything that is sold, also outside of the window. */
  readonly plan: ServingPlanDocument;
  /** The same as it was decided: widened where the question asks for that. */
  readonly decided: ServingPlanDocument;
  /** Line items that were added since it was made. */
  readonly additions: number;
  readonly madeAtMs: number;
  /** When somebody asked last what it answers, and when that was expected last; 0 for never. */
  readonly askedAtMs: number;
  readonly expectedAtMs: number;
}

/** Times of episodes, in ms. */
type Releases = ReadonlyMap<string, bigint>;

type Wanted = Pick<Entry, 'askedAtMs' | 'expectedAtMs'>;

/**
 * Answers a plan whose line items may serve in more plays, or the same plan.
 * @param known the baseline of what is sold
 */
export type Widen = (plan: ServingPlanDocument, known: DeliveryBaseline, inputs: ForecastInputs) => ServingPlanDocument;

/**
 * Answers the baseline of a window: one kept from an earlier question, or a new one.
 * @param widen asks for the baseline of a wider plan, which has the same plays. It is asked about the line items that were not widened or
 *   left before. Where it widens none the baseline is that of the plan as it is sold
 */
export type KeepBaseline = (inputs: ForecastInputs, range: TimeRange, widen?: Widen) => Kept;

export interface KeptBaselines {
  readonly baselineOf: KeepBaseline;
  /**
   * Makes one part of what the next question of a workspace would make first: the curves of a new hour, the part of its sample, or one baseline
   * that somebody asked for lately and that is old, or is not of what is sold now; then one of the baselines of flights that somebody may ask about.
   * @param flights that may be asked about, the likeliest first; where there are none, of four weeks. Absent: none is made for them
   * @returns false where nothing was to be made
   */
  readonly makeAhead: (inputs: ForecastInputs, widen: Widen, flights?: readonly TimeRange[]) => boolean;
}

const hourMs = 3_600_000;
/** A baseline is kept so long: line items get little in that time, as in this share of its days. */
const [leastAgeMs, mostAgeMs, ageOfDays] = [600_000, 4_200_000, 0.002];
/** From this share of it on it is made ahead. */
const renewedFrom = 0.8;
/** Baselines of a workspace for flights that nobody has asked about yet. */
const maxExpected = 2;
/** A flight that is asked about where nothing is offered yet. */
const usualFlightMs = 28 * 86_400_000;
/** So long no baseline is made for such flights of a workspace of which there was no room for one. */
const noRoomMs = 3_600_000;
/** So long after the last question it is made ahead. */
export const askedLatelyMs = 1_800_000;
/** Line items and plays of all kept baselines together: some 300 MB. */
const maxKept = 500_000;
const maxPerWorkspace = 4;
/** A baseline to which more line items would be added is made anew. */
const maxAdditions = 50;
/** Numbers of credits that take as much room as a play. */
const creditsPerPlay = 80;
/** Words of sets of line items, of which each break of a play has one, that take as much room as a play. */
const wordsPerPlay = 70;
/** Curves of a workspace with a thousand podcasts have some 3 MB. */
const maxModels = 20;

/** The words of people about the days to come: they count from the next question on. */
const termsOf = ({ booking: { head } }: ForecastInputs) => {
  const modifiers = head.modifiers.map(({ trafficModifierId: id, fromMs, toMs, factor, podcastIds }) =>
    [id, fromMs, toMs, factor, ...podcastIds].join(),
  );
  return [head.timeZone, ...modifiers].join(' ');
};

const releasesOf = ({ booking: { head } }: ForecastInputs): Releases =>
  new Map(head.releases.map(({ episodeId, publishAtMs }) => [episodeId, publishAtMs]));

const scheduledOf = (inputs: ForecastInputs): Releases =>
  new Map([...releasesOf(inputs)].filter(([, atMs]) => atMs > inputs.nowMs));

/**
 * Whether episodes that were to come out have done so or are still to come at their times, and no others are: one that was withdrawn or
 * postponed has no plays to sell.
 * @param told what is known now
 */
const isOnSchedule = (scheduled: Releases, told: Releases, nowMs: number): boolean =>
  [...scheduled].every(([id, atMs]) => (atMs > nowMs ? told.get(id) === atMs : told.has(id))) &&
  [...told].every(([id, atMs]) => atMs <= nowMs || scheduled.get(id) === atMs);

/** Curves of the same are the same: up to which hour the past is known, and what is known of the days to come. */
const basisOf = (inputs: ForecastInputs) => {
  const { past, booking } = inputs;
  const releases = booking.head.releases.map(({ episodeId, publishAtMs }) => `${episodeId} ${publishAtMs}`);
  return [termsOf(inputs), past.untilMs, past.hours.length, ...releases].join(' ');
};

const maxAgeOf = ({ baseline: { days } }: Kept) =>
  Math.min(mostAgeMs, Math.max(leastAgeMs, ageOfDays * (days.toMs - days.fromMs)));

const isWanted = ({ askedAtMs, expectedAtMs }: Wanted, nowMs: number) =>
  nowMs - Math.max(askedAtMs, expectedAtMs) < askedLatelyMs;

const sizeOf = ({ baseline: { plan, index, plays, projected, credits } }: Kept) =>
  1 +
  plan.line_items.length +
  plays.length +
  projected.length +
  Math.ceil(credits.untilDay.length / creditsPerPlay + (index.all.length * plays.length) / wordsPerPlay);

const playsFor = ({ maxPlays }: Pick<ForecastInputs, 'maxPlays'>) => Math.min(maxPlays, interactivePlays);

/** Line items that may serve in a window. */
const isOpenIn =
  ({ fromMs, toMs }: TimeRange) =>
  ({ window: { start, end } }: PlanLineItem) =>
    Date.parse(start) < toMs && Date.parse(end) > fromMs;

/** Decides the window by everything that is sold. @param other a baseline of the same plays */
function decideWindow(
  inputs: ForecastInputs,
  decided: ServingPlanDocument,
  model: TrafficModel,
  range: TimeRange,
  other: DeliveryBaseline | undefined,
): DeliveryBaseline {
  const { booking } = inputs;
  const plan = { ...decided, line_items: decided.line_items.filter(isOpenIn(range)) };
  const asked = { ...inputs, booking: { ...booking, plan }, maxPlays: playsFor(inputs) };
  return makeBaseline(deliveryInputs(asked, model, range), other);
}

/** The plan of now as it is decided: line items that were there before stay as they were decided. */
function decidePlan(
  plan: ServingPlanDocument,
  before: Entry,
  added: readonly PlanLineItem[],
  widen: (plan: ServingPlanDocument) => ServingPlanDocument,
) {
  const decided = [...before.decided.line_items, ...widen({ ...plan, line_items: [...added] }).line_items];
  const lines = new Map(decided.map((line) => [line.line_item_id, line]));
  return { ...plan, line_items: plan.line_items.map(({ line_item_id: id }) => lines.get(id)!) };
}

/** The baseline of what is sold now, from one of what was sold before; undefined where it has to be made anew. */
function changeEntry(
  inputs: ForecastInputs,
  entry: Entry,
  widen: ((plan: ServingPlanDocument) => ServingPlanDocument) | undefined,
): Entry | undefined {
  const { plan } = inputs.booking;
  if (entry.plan === plan) return entry;
  const added = findAdded(entry.plan, plan);
  const additions = entry.additions + (added?.length ?? Infinity);
  if (!added || additions > maxAdditions) return undefined;
  const { days } = entry.baseline;
  const decided = widen ? decidePlan(plan, entry, added, widen) : plan;
  const isAdded = new Set(added.map(({ line_item_id: id }) => id));
  const openPlan = { ...decided, line_items: decided.line_items.filter(isOpenIn(days)) };
  const open = openPlan.line_items.filter(({ line_item_id: id }) => isAdded.has(id));
  if (open.length === 0) return { ...entry, plan, decided };
  const baseline = addToBaseline(entry.baseline, openPlan, { added: open, ...goalsOf(inputs) });
  return baseline && { ...entry, baseline, plan, decided, additions };
}

/** Fits the curves of a workspace once for all questions of an hour. */
function createKeepModels() {
  const kept = new LRUCache<string, { readonly basis: string; readonly model: TrafficModel }>({ max: maxModels });
  return {
    has: (inputs: ForecastInputs) => kept.get(inputs.workspaceId)?.basis === basisOf(inputs),
    modelFor: (inputs: ForecastInputs): TrafficModel => {
      const basis = basisOf(inputs);
      const known = kept.get(inputs.workspaceId);
      if (known?.basis === basis) return known.model;
      // Hope is no promise: modifiers that raise traffic sell nothing.
      const model = modelOf(inputs, ({ factor }) => factor <= 1);
      kept.set(inputs.workspaceId, { basis, model });
      return model;
    },
  };
}

const wholeHours = ({ fromMs, toMs }: TimeRange): TimeRange => ({
  ...{ fromMs: Math.floor(fromMs / hourMs) * hourMs, toMs: Math.ceil(toMs / hourMs) * hourMs },
});

/**
 * Finds a baseline that answers a question about some hours. Facts of an hour more change it little: until it is made again the one from before
 * answers.
 */
const answering = (inputs: ForecastInputs, isWide: boolean, range: TimeRange) => {
  const [terms, told] = [termsOf(inputs), releasesOf(inputs)];
  return (one: Entry): boolean => {
    const { days } = one.baseline;
    return (
      one.isWide === isWide &&
      one.terms === terms &&
      isOnSchedule(one.scheduled, told, inputs.nowMs) &&
      inputs.nowMs - one.madeAtMs < maxAgeOf(one) &&
      days.fromMs <= range.fromMs &&
      days.toMs >= range.toMs &&
      days.toMs - days.fromMs <= 2 * (range.toMs - range.fromMs)
    );
  };
};

/** The parts of flights that lie ahead. */
function expectedRanges(flights: readonly TimeRange[], nowMs: number): readonly TimeRange[] {
  if (flights.length === 0) return [wholeHours({ fromMs: nowMs, toMs: nowMs + usualFlightMs })];
  const iso = (atMs: number) => new Date(atMs).toISOString();
  return flights
    .map(({ fromMs, toMs }) => wholeHours(aheadOf({ start: iso(fromMs), end: iso(toMs) }, nowMs)))
    .filter(({ fromMs, toMs }) => toMs > fromMs);
}

/** Those that were asked for last and fit the bound: the cache would not keep anything that is larger as a whole. */
function bounded(entries: readonly Entry[]): readonly Entry[] {
  let size = 0;
  return entries
    .toSorted((a, b) => b.askedAtMs - a.askedAtMs || b.expectedAtMs - a.expectedAtMs)
    .slice(0, maxPerWorkspace)
    .filter((one) => (size += sizeOf(one)) < maxKept);
}

/**
 * Keeps what was decided for one question for the next ones, in the same window or one of half its length at least: a shorter one would have
 * too few of the plays. Line items that were sold since are added to it; where others were changed or ended it is made anew.
 * @param maxSize of what is kept of all workspaces, in line items and plays
 */
export function createKeepBaselines(maxSize = maxKept): KeptBaselines {
  const models = createKeepModels();
  const kept = new LRUCache<string, readonly Entry[]>({
    maxSize,
    sizeCalculation: (entries) => entries.reduce((sum, one) => sum + sizeOf(one), 1),
  });
  const noRoom = new LRUCache<string, true>({ max: 100, ttl: noRoomMs });
  const entriesOf = (workspaceId: string) => kept.get(workspaceId) ?? [];
  const find = (
    inputs: ForecastInputs,
    { fromMs, toMs }: TimeRange,
    widen: Widen | undefined,
    wanted: Wanted,
  ): Entry => {
    const { workspaceId, nowMs, booking } = inputs;
    const isWide = widen !== undefined;
    const sold = widen && find(inputs, { fromMs, toMs }, undefined, wanted);
    const wider = widen && ((plan: ServingPlanDocument) => widen(plan, sold!.baseline, inputs));
    // A wider plan is decided in the plays of what is sold, which are those of a longer window at times.
    const range = sold?.baseline.days ?? wholeHours({ fromMs, toMs });
    const entries = entriesOf(workspaceId).filter((one) => isWanted(one, nowMs));
    const known = entries.find(answering(inputs, isWide, range));
    const found = known && changeEntry(inputs, known, wider);
    const { plan } = booking;
    const decided = !found && wider ? wider(plan) : plan;
    if (!found && sold && decided === plan) return sold;
    const make = (): Entry => {
      const model = sold?.model ?? models.modelFor(inputs);
      return {
        baseline: decideWindow(inputs, decided, model, range, sold?.baseline),
        ...{ model, terms: termsOf(inputs), scheduled: sold?.scheduled ?? scheduledOf(inputs) },
        ...{ basis: sold?.basis ?? basisOf(inputs), isWide, plan, decided },
        ...{ additions: 0, madeAtMs: nowMs, ...wanted },
      };
    };
    const made = found ?? make();
    const entry = {
      ...made,
      askedAtMs: Math.max(made.askedAtMs, wanted.askedAtMs),
      expectedAtMs: Math.max(made.expectedAtMs, wanted.expectedAtMs),
    };
    keepEntries(workspaceId, [entry, ...entries.filter((one) => one !== known)], entry);
    return entry;
  };
  /** A baseline that nobody has asked for takes no room from one that somebody did. */
  const keepEntries = (workspaceId: string, all: readonly Entry[], newest: Entry) => {
    const entries = bounded(all);
    const size = (own: readonly Entry[]) => own.reduce((sum, one) => sum + sizeOf(one), 1);
    const grown = kept.calculatedSize - size(entriesOf(workspaceId)) + size(entries);
    if (newest.askedAtMs === 0 && (grown > maxSize || !entries.includes(newest))) noRoom.set(workspaceId, true);
    else kept.set(workspaceId, entries);
  };
  /** Makes one of the baselines that are expected to be asked for; answers false where they are there. */
  const makeExpected = (inputs: ForecastInputs, flights: readonly TimeRange[]): boolean => {
    const { workspaceId, nowMs } = inputs;
    const wanted = { askedAtMs: 0, expectedAtMs: nowMs };
    const found = new Set<Entry>();
    for (const range of expectedRanges(flights, nowMs)) {
      const known = entriesOf(workspaceId).find(answering(inputs, false, range));
      if (!known && (found.size >= maxExpected || noRoom.has(workspaceId))) continue;
      if (!known) return makeNext(inputs, () => find(inputs, range, undefined, wanted));
      found.add(known);
    }
    const entries = entriesOf(workspaceId);
    if (found.size > 0)
      kept.set(
        workspaceId,
        entries.map((one) => (found.has(one) ? { ...one, expectedAtMs: nowMs } : one)),
      );
    return false;
  };
  /** Makes the curves, the part of the sample, or what is made of them. */
  const makeNext = (inputs: ForecastInputs, make: () => void): true => {
    if (!models.has(inputs)) models.modelFor(inputs);
    else if (!thinAhead(inputs, playsFor(inputs))) make();
    return true;
  };
  const makeAhead: KeptBaselines['makeAhead'] = (inputs, widen, flights) => {
    const { workspaceId, nowMs, booking } = inputs;
    const isOld = (one: Entry) => one.basis !== basisOf(inputs) || nowMs - one.madeAtMs >= renewedFrom * maxAgeOf(one);
    const all = entriesOf(workspaceId).filter(
      (one) => isWanted(one, nowMs) && one.baseline.days.toMs > nowMs && (isOld(one) || one.plan !== booking.plan),
    );
    // A wider one is made from the other.
    const old = all.find(({ isWide }) => !isWide) ?? all[0];
    if (!old) return flights !== undefined && makeExpected(inputs, flights);
    return makeNext(inputs, () => {
      const others = () => entriesOf(workspaceId).filter((one) => one !== old);
      if (isOld(old)) kept.set(workspaceId, others());
      const { isWide, askedAtMs, expectedAtMs, baseline } = old;
      const range = { fromMs: Math.max(baseline.days.fromMs, nowMs), toMs: baseline.days.toMs };
      find(inputs, range, isWide ? widen : undefined, { askedAtMs, expectedAtMs });
      kept.set(workspaceId, others());
    });
  };
  const baselineOf: KeepBaseline = (inputs, range, widen) =>
    find(inputs, range, widen, { askedAtMs: inputs.nowMs, expectedAtMs: 0 });
  return { makeAhead, baselineOf };
}
