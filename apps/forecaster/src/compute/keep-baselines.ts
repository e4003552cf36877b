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
import { deliveryInputs, goalsOf, modelOf, thinAhead, type ForecastInputs } from './forecast-inputs.ts';

/** Plays that are decided while somebody waits: an error of some 3 per cent. */
export const interactivePlays = 10_000;

/** A baseline: the decisions of a window by everything that is sold but the line item that is asked about, and the curves behind it. */
interface Kept {
  readonly baseline: DeliveryBaseline;
  readonly model: TrafficModel;
}

interface Entry extends Kept {
  readonly basis: string;
  readonly isWide: boolean;
  /** The plan of everything that is sold, also outside of the window. */
  readonly plan: ServingPlanDocument;
  /** The same as it was decided: widened where the question asks for that. */
  readonly decided: ServingPlanDocument;
  /** Line items that were added since it was made. */
  readonly additions: number;
  readonly madeAtMs: number;
  /** When somebody asked last what it answers. */
  readonly askedAtMs: number;
}

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
   * that somebody asked for lately and that is old, or is not of what is sold now.
   * @returns false where nothing was to be made
   */
  readonly makeAhead: (inputs: ForecastInputs, widen: Widen) => boolean;
}

const hourMs = 3_600_000;
/** A baseline is kept so long: line items get little in that time. */
const maxAgeMs = 600_000;
/** From this age on it is made ahead. */
const renewedFromMs = 480_000;
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

/** Curves of the same are the same: up to which hour the past is known, and what is known of the days to come. */
const modelBasisOf = ({ past: { untilMs, hours }, booking: { head } }: ForecastInputs) => {
  const modifiers = head.modifiers.map(({ trafficModifierId: id, fromMs, toMs, factor, podcastIds }) =>
    [id, fromMs, toMs, factor, ...podcastIds].join(),
  );
  const releases = head.releases.map(({ episodeId, publishAtMs }) => `${episodeId} ${publishAtMs}`);
  return [head.timeZone, untilMs, hours.length, ...modifiers, ...releases].join(' ');
};

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
    has: (inputs: ForecastInputs) => kept.get(inputs.workspaceId)?.basis === modelBasisOf(inputs),
    modelFor: (inputs: ForecastInputs): TrafficModel => {
      const basis = modelBasisOf(inputs);
      const known = kept.get(inputs.workspaceId);
      if (known?.basis === basis) return known.model;
      // Hope is no promise: modifiers that raise traffic sell nothing.
      const model = modelOf(inputs, ({ factor }) => factor <= 1);
      kept.set(inputs.workspaceId, { basis, model });
      return model;
    },
  };
}

const basisOf = (inputs: ForecastInputs, isWide: boolean) => `${isWide ? 'wide' : 'sold'} ${modelBasisOf(inputs)}`;

/** Finds a baseline that answers a question about some hours. */
const covering =
  (basis: string, range: TimeRange) =>
  ({ basis: own, baseline: { days } }: Entry): boolean =>
    own === basis &&
    days.fromMs <= range.fromMs &&
    days.toMs >= range.toMs &&
    days.toMs - days.fromMs <= 2 * (range.toMs - range.fromMs);

/** Those that were asked for last and fit the bound: the cache would not keep anything that is larger as a whole. */
function bounded(entries: readonly Entry[]): readonly Entry[] {
  let size = 0;
  return entries
    .toSorted((a, b) => b.askedAtMs - a.askedAtMs)
    .slice(0, maxPerWorkspace)
    .filter((one) => (size += sizeOf(one)) < maxKept);
}

/**
 * Keeps what was decided for one question for the next ones, in the same window or one of half its length at least: a shorter one would have
 * too few of the plays. Line items that were sold since are added to it; where others were changed or ended it is made anew.
 */
export function createKeepBaselines(): KeptBaselines {
  const models = createKeepModels();
  const kept = new LRUCache<string, readonly Entry[]>({
    maxSize: maxKept,
    sizeCalculation: (entries) => entries.reduce((sum, one) => sum + sizeOf(one), 1),
  });
  const entriesOf = (workspaceId: string) => kept.get(workspaceId) ?? [];
  const find = (
    inputs: ForecastInputs,
    { fromMs, toMs }: TimeRange,
    widen: Widen | undefined,
    askedAtMs: number,
  ): Kept => {
    const { workspaceId, nowMs, booking } = inputs;
    const model = models.modelFor(inputs);
    const [isWide, basis] = [widen !== undefined, basisOf(inputs, widen !== undefined)];
    const sold = widen && find(inputs, { fromMs, toMs }, undefined, askedAtMs);
    const wider = widen && ((plan: ServingPlanDocument) => widen(plan, sold!.baseline, inputs));
    // A wider plan is decided in the plays of what is sold, which are those of a longer window at times.
    const hours = { fromMs: Math.floor(fromMs / hourMs) * hourMs, toMs: Math.ceil(toMs / hourMs) * hourMs };
    const range = sold?.baseline.days ?? hours;
    const entries = entriesOf(workspaceId).filter((one) => nowMs - one.askedAtMs < askedLatelyMs);
    const covers = covering(basis, range);
    const known = entries.find((one) => nowMs - one.madeAtMs < maxAgeMs && covers(one));
    const found = known && changeEntry(inputs, known, wider);
    const { plan } = booking;
    const decided = !found && wider ? wider(plan) : plan;
    if (!found && sold && decided === plan) return sold;
    const made: Entry = found ?? {
      baseline: decideWindow(inputs, decided, model, range, sold?.baseline),
      ...{ model, basis, isWide, plan, decided, additions: 0, madeAtMs: nowMs, askedAtMs },
    };
    const asked = { ...made, askedAtMs: Math.max(made.askedAtMs, askedAtMs) };
    kept.set(workspaceId, bounded([asked, ...entries.filter((one) => one !== known)]));
    return asked;
  };
  const makeAhead: KeptBaselines['makeAhead'] = (inputs, widen) => {
    const { workspaceId, nowMs, booking } = inputs;
    const isAsked = ({ askedAtMs, baseline: { days } }: Entry) =>
      nowMs - askedAtMs < askedLatelyMs && days.toMs > nowMs;
    const isOld = (one: Entry) => one.basis !== basisOf(inputs, one.isWide) || nowMs - one.madeAtMs >= renewedFromMs;
    const all = entriesOf(workspaceId).filter((one) => isAsked(one) && (isOld(one) || one.plan !== booking.plan));
    // A wider one is made from the other.
    const old = all.find(({ isWide }) => !isWide) ?? all[0];
    if (!old) return false;
    if (!models.has(inputs)) {
      models.modelFor(inputs);
      return true;
    }
    if (thinAhead(inputs, playsFor(inputs))) return true;
    const others = () => entriesOf(workspaceId).filter((one) => one !== old);
    if (isOld(old)) kept.set(workspaceId, others());
    const { isWide, askedAtMs, baseline } = old;
    const { days } = baseline;
    find(inputs, { fromMs: Math.max(days.fromMs, nowMs), toMs: days.toMs }, isWide ? widen : undefined, askedAtMs);
    kept.set(workspaceId, others());
    return true;
  };
  return { makeAhead, baselineOf: (inputs, range, widen) => find(inputs, range, widen, inputs.nowMs) };
}
