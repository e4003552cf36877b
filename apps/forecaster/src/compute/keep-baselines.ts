import { simulateDelivery, type DeliveryBaseline, type TimeRange, type TrafficModel } from '@longwave/forecasting';
import { LRUCache } from 'lru-cache';
import { deliveryInputs, modelOf, type ForecastInputs } from './forecast-inputs.ts';

/** Plays that are decided while somebody waits: an error of some 3 per cent. */
export const interactivePlays = 10_000;

/** A baseline: the decisions of a window by everything that is sold but the line item that is asked about, and the curves behind it. */
interface Kept {
  readonly baseline: DeliveryBaseline;
  readonly model: TrafficModel;
}

interface Entry extends Kept {
  readonly basis: string;
  readonly madeAtMs: number;
}

/** Answers the baseline of a window: one kept from an earlier question, or a new one. */
export type KeepBaseline = (inputs: ForecastInputs, range: TimeRange) => Kept;

const hourMs = 3_600_000;
/** A baseline is kept so long: line items get little in that time. */
const maxAgeMs = 600_000;
/** Line items and plays of all kept baselines together: some 200 MB. */
const maxKept = 300_000;
const maxPerWorkspace = 4;
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

const sizeOf = ({ baseline: { plan, plays, projected } }: Kept) =>
  1 + plan.line_items.length + plays.length + projected.length;

/** Decides the window by everything that is sold. */
function makeBaseline(inputs: ForecastInputs, model: TrafficModel, range: TimeRange): DeliveryBaseline {
  const { booking, maxPlays } = inputs;
  const isOpen = ({ window: { start, end } }: (typeof booking.plan.line_items)[number]) =>
    Date.parse(start) < range.toMs && Date.parse(end) > range.fromMs;
  const plan = { ...booking.plan, line_items: booking.plan.line_items.filter(isOpen) };
  const asked = { ...inputs, booking: { ...booking, plan }, maxPlays: Math.min(maxPlays, interactivePlays) };
  return simulateDelivery(deliveryInputs(asked, model, range)).baseline;
}

/** Fits the curves of a workspace once for all questions of an hour. */
function createKeepModels(): (inputs: ForecastInputs) => TrafficModel {
  const kept = new LRUCache<string, { readonly basis: string; readonly model: TrafficModel }>({ max: maxModels });
  return (inputs) => {
    const basis = modelBasisOf(inputs);
    const known = kept.get(inputs.workspaceId);
    if (known?.basis === basis) return known.model;
    // What people hope for is no promise: modifiers that raise traffic sell nothing.
    const model = modelOf(inputs, ({ factor }) => factor <= 1);
    kept.set(inputs.workspaceId, { basis, model });
    return model;
  };
}

/**
 * Keeps what was decided for one question for the next ones about the same bookings, in the same window or one of half its length at
 * least: a shorter one would have too few of the plays.
 */
export function createKeepBaselines(): KeepBaseline {
  const modelFor = createKeepModels();
  const kept = new LRUCache<string, readonly Entry[]>({
    maxSize: maxKept,
    sizeCalculation: (entries) => entries.reduce((sum, one) => sum + sizeOf(one), 1),
  });
  return (inputs, { fromMs, toMs }) => {
    const { workspaceId, nowMs } = inputs;
    const model = modelFor(inputs);
    const basis = `${inputs.booking.head.planDigest} ${modelBasisOf(inputs)}`;
    const range = { fromMs: Math.floor(fromMs / hourMs) * hourMs, toMs: Math.ceil(toMs / hourMs) * hourMs };
    const same = (kept.get(workspaceId) ?? []).filter((one) => one.basis === basis && nowMs - one.madeAtMs < maxAgeMs);
    const covers = ({ baseline: { days } }: Entry) =>
      days.fromMs <= range.fromMs &&
      days.toMs >= range.toMs &&
      days.toMs - days.fromMs <= 2 * (range.toMs - range.fromMs);
    const found = same.find(covers);
    if (found) return found;
    const made = { baseline: makeBaseline(inputs, model, range), model, basis, madeAtMs: nowMs };
    kept.set(workspaceId, [made, ...same].slice(0, maxPerWorkspace));
    return made;
  };
}
