import type { PlanLineItem } from '@longwave/events';
import { findAhead } from './find-ahead.ts';
import { aheadOf, type ForecastInputs } from './forecast-inputs.ts';
import { interactivePlays, type KeepBaseline, type Widen } from './keep-baselines.ts';
import { findHidden, withHidden, withHiddenSold } from './rare-values.ts';
import { isTooLittleKnown } from './too-little-known.ts';

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
  /** Of a sponsorship or an exclusive line item: per cent that others of these were sold of a break that it fits, at most. */
  readonly shareTakenPct: number;
  readonly bookingVersion: number;
}

/** The plan of what is sold in which line items that lack plays have those with a hidden value too. */
export const widenSold: Widen = (plan, known, { past }) => withHiddenSold(plan, known, findHidden(past.plays));

/**
 * The most that there could be if every play with a hidden value fitted, beside line items that were promised the same plays. Undefined when
 * nothing is hidden from the line item.
 */
function findMost(inputs: ForecastInputs, line: PlanLineItem, baselineOf: KeepBaseline) {
  const { past, committed, nowMs } = inputs;
  const widened = withHidden(line, findHidden(past.plays));
  if (!widened) return undefined;
  const beside = baselineOf(inputs, aheadOf(line.window, nowMs), widenSold);
  return findAhead({ committed }, widened, beside.baseline, interactivePlays).found;
}

/**
 * Whether a line item can be had beside everything that is sold. Values that the sample hides are an uncertainty: the answer is
 * `learning` up to what there would be if all of them fitted, and no further.
 * @param baselineOf what is sold without the line item, kept or made
 */
export function checkAvailability(
  inputs: ForecastInputs,
  line: PlanLineItem,
  baselineOf: KeepBaseline,
): CheckedAvailability {
  const { booking, committed, nowMs } = inputs;
  const quantity = line.goal.unit === 'share_pct' ? undefined : line.goal.quantity;
  const bookingVersion = Number(booking.head.bookingVersion);
  const unknown = {
    capacity: 0,
    available: 0,
    nearest: 0,
    contending: [],
    learning: true,
    shareTakenPct: 0,
    bookingVersion,
  };
  if (inputs.past.plays.length === 0) return unknown;
  const { baseline, model } = baselineOf(inputs, aheadOf(line.window, nowMs));
  // What a line item that delivers has had is its own.
  const { found, had, fits } = findAhead({ committed }, line, baseline, interactivePlays);
  const [capacity, available] = [Math.floor(found.capacity + had), Math.floor(found.available + had)];
  const learning = isTooLittleKnown(inputs, line, model, [...found.matched.byPodcast.keys()]);
  const exceeds = (units: number) => quantity !== undefined && quantity > units;
  const most = !learning && exceeds(available) ? findMost(inputs, line, baselineOf) : undefined;
  const fitting = () => (learning || !fits ? available : Math.min(available, Math.floor(fits() + had)));
  const nearest = most ? Math.max(available, Math.floor(most.available + had)) : fitting();
  return {
    ...{ capacity, available, nearest, bookingVersion, shareTakenPct: Math.ceil(found.shareTaken) },
    contending: (most ?? found).contending.map(({ lineItemId, loses, ofGoal = 0, tier }) => ({
      ...{ lineItemId, loses: Math.round(loses), ofGoal: Math.round(ofGoal), tier },
    })),
    learning: learning || (most !== undefined && !exceeds(nearest)),
  };
}
