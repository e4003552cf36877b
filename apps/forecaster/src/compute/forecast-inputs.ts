import {
  fitTraffic,
  type BacktestRatio,
  findTrafficFactors,
  thinSample,
  type DeliveryInputs,
  type SamplePlay,
  type TimeRange,
  type TrafficModel,
} from '@longwave/forecasting';
import type { TrafficModifier } from '@longwave/rpc/forecast';
import type { Committed } from '@longwave/rpc/serving';
import type { Booking } from '../inputs/read-booking.ts';
import type { Past } from '../inputs/read-past.ts';
import { trafficInputs } from '../inputs/traffic-inputs.ts';

/** Everything that a forecast is made from. */
export interface ForecastInputs {
  readonly workspaceId: string;
  readonly nowMs: number;
  readonly past: Past;
  readonly booking: Booking;
  /** What line items with a goal have had. */
  readonly committed: readonly Committed[];
  /** Of the workspace's own backtests; none where they were not made. */
  readonly backtests: readonly BacktestRatio[];
  /** Plays of a full simulation. */
  readonly maxPlays: number;
}

/**
 * The curves of the workspace's podcasts.
 * @param counts modifiers that are applied; absent: all
 */
export const modelOf = (
  { past, booking: { head }, nowMs }: Pick<ForecastInputs, 'past' | 'booking' | 'nowMs'>,
  counts: (modifier: TrafficModifier) => boolean = () => true,
): TrafficModel => fitTraffic(trafficInputs(past.hours, { ...head, modifiers: head.modifiers.filter(counts) }, nowMs));

const dayMs = 86_400_000;
/** Days that are looked over at most, and those from now on that are looked at: further on nothing is expected. */
const [maxDays, maxHorizonDays] = [366, 3 * 366];

/** The part of a window that lies ahead, at most 366 days of the next three years; without length when there is none. */
export function aheadOf(window: { readonly start: string; readonly end: string }, nowMs: number): TimeRange {
  const horizonMs = nowMs + maxHorizonDays * dayMs;
  const fromMs = Math.min(Math.max(Date.parse(window.start), nowMs), horizonMs);
  return { fromMs, toMs: Math.max(fromMs, Math.min(Date.parse(window.end), fromMs + maxDays * dayMs, horizonMs)) };
}

/** Sampled plays that a simulation is drawn from, per simulated play: more of them would make it no more exact. */
const rowsPerPlay = 4;

const thinned = new WeakMap<
  readonly SamplePlay[],
  { readonly maxRows: number; readonly part: readonly SamplePlay[] }
>();

/** A part of a sample, found once for all questions about the same past. */
function thinOnce(plays: readonly SamplePlay[], maxRows: number): readonly SamplePlay[] {
  const known = thinned.get(plays);
  if (known?.maxRows === maxRows) return known.part;
  const part = thinSample(plays, maxRows);
  thinned.set(plays, { maxRows, part });
  return part;
}

const rowsFor = (maxPlays: number) => rowsPerPlay * maxPlays;

/** Finds the part of the sample that so many plays are drawn from, for the simulations to come. Answers false where it is known. */
export function thinAhead({ past: { plays } }: Pick<ForecastInputs, 'past'>, maxPlays: number): boolean {
  if (thinned.get(plays)?.maxRows === rowsFor(maxPlays)) return false;
  thinOnce(plays, rowsFor(maxPlays));
  return true;
}

/** Finds the units that each line item still lacks of its goal, and the share of its decided units that is confirmed. */
export function goalsOf({
  booking,
  committed,
}: Pick<ForecastInputs, 'booking' | 'committed'>): Required<Pick<DeliveryInputs, 'goalsLeft' | 'deliveryRates'>> {
  const had = new Map(committed.map(({ lineItemId, units }) => [lineItemId, units]));
  const goalsLeft = booking.plan.line_items.flatMap(({ line_item_id: id, goal }) =>
    (goal.unit === 'impressions' || goal.unit === 'completes') && had.has(id)
      ? [[id, Math.max(0, goal.quantity! - had.get(id)!)] as const]
      : [],
  );
  const deliveryRates = committed.map(({ lineItemId, deliveryRate }) => [lineItemId, deliveryRate] as const);
  return { goalsLeft: new Map(goalsLeft), deliveryRates: new Map(deliveryRates) };
}

/** The simulation of everything that is sold. */
export function deliveryInputs(inputs: ForecastInputs, model: TrafficModel, range: TimeRange): DeliveryInputs {
  const { booking, past, maxPlays } = inputs;
  const plays = thinOnce(past.plays, rowsFor(maxPlays));
  return {
    plan: booking.plan,
    plays,
    days: { ...range, timeZone: booking.head.timeZone },
    ...goalsOf(inputs),
    goalsAtMs: inputs.nowMs,
    trafficFactors: findTrafficFactors(model, plays, range),
    count: maxPlays,
  };
}
