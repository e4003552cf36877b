import type { PlanLineItem } from '@longwave/events';
import { findAvailability, type DeliveryBaseline } from '@longwave/forecasting';
import { deliveryInputs, modelOf, type ForecastInputs } from './forecast-inputs.ts';
import { hidesTargeted } from './rare-values.ts';

/** The answer to a seller who waits; numbers are whole units. */
export interface CheckedAvailability {
  readonly capacity: number;
  readonly available: number;
  readonly nearest: number;
  readonly contending: readonly {
    readonly lineItemId: string;
    readonly loses: number;
    readonly ofGoal: number;
    readonly tier: string;
  }[];
  readonly learning: boolean;
  readonly bookingVersion: number;
}

const dayMs = 86_400_000;
/** Facts of fewer days refuse nothing. */
const learnedMs = 14 * dayMs;
/** Plays that are decided while somebody waits: about a second of a core with 10,000 line items, and an error of some 3 per cent. */
const interactivePlays = 10_000;

/** Whether too little is known: of the workspace, of the podcasts that fit, or of what is targeted. */
function isLearning(
  inputs: ForecastInputs,
  line: PlanLineItem,
  podcastIds: readonly string[],
  learning: ReadonlySet<string>,
): boolean {
  const { past, nowMs } = inputs;
  const [first] = past.plays;
  if (!first || nowMs - first.atMs < learnedMs) return true;
  return podcastIds.length === 0 || podcastIds.every((id) => learning.has(id)) || hidesTargeted(line, past.plays);
}

/**
 * Whether a line item can be had beside everything that is sold. Pure.
 * @param baseline of this plan and window, where there is one
 */
export function checkAvailability(
  inputs: ForecastInputs,
  line: PlanLineItem,
  baseline?: DeliveryBaseline,
): CheckedAvailability {
  const { booking, nowMs } = inputs;
  const bookingVersion = Number(booking.head.bookingVersion);
  const unknown = { capacity: 0, available: 0, nearest: 0, contending: [], learning: true, bookingVersion };
  if (inputs.past.plays.length === 0) return unknown;
  const model = modelOf(inputs);
  const range = { fromMs: Math.max(Date.parse(line.window.start), nowMs), toMs: Date.parse(line.window.end) };
  // What a line item that delivers has had is its own.
  const had = inputs.committed.find(({ lineItemId }) => lineItemId === line.line_item_id)?.units ?? 0;
  const { quantity } = line.goal;
  const found = findAvailability({
    ...deliveryInputs({ ...inputs, maxPlays: Math.min(inputs.maxPlays, interactivePlays) }, model, range),
    ...{ prospective: line, maxPlays: interactivePlays },
    ...(quantity !== undefined && { quantity: Math.max(1, quantity - had) }),
    ...(baseline && { baseline }),
  });
  const learning = new Set([...model.podcasts.values()].filter((one) => one.learning).map((one) => one.podcastId));
  const podcastIds = found.byPodcast.filter(({ capacity }) => capacity > 0).map(({ podcastId }) => podcastId);
  const available = Math.floor(found.available + had);
  return {
    ...{ capacity: Math.floor(found.capacity + had), available, nearest: available, bookingVersion },
    contending: found.contending.map(({ lineItemId, loses, ofGoal = 0, tier }) => ({
      ...{ lineItemId, loses: Math.round(loses), ofGoal: Math.round(ofGoal), tier },
    })),
    learning: isLearning(inputs, line, podcastIds, learning),
  };
}
