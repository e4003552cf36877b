import type { PlanLineItem } from '@longwave/events';
import type { Matched } from './find-matched.ts';
import type { DeliveryBaseline, DeliveryInputs } from './simulate-delivery.ts';

export interface AvailabilityInputs extends DeliveryInputs {
  /** The line item that is not yet in the plan; one of its id in the plan is left out. */
  readonly prospective: PlanLineItem;
  /** Units that are asked for; absent: as many as there are. */
  readonly quantity?: number;
  /** Of this plan; made anew when it is absent. */
  readonly baseline?: DeliveryBaseline;
  /** Plays that are decided again at most; a part of those that match is taken if they are more. Absent: all. */
  readonly maxPlays?: number;
}

/** Units of the line item's counting basis in its window. */
export interface Availability {
  /** Breaks that fit. */
  readonly capacity: number;
  /** Behind every guaranteed line item. */
  readonly available: number;
  /** At its own priority; at most `quantity`. */
  readonly possible: number;
  readonly byDay: readonly { readonly dayMs: number; readonly capacity: number; readonly available: number }[];
  /** At most 50, the largest first. */
  readonly byPodcast: readonly { readonly podcastId: string; readonly capacity: number; readonly available: number }[];
  /** Line items that lose by it at its own priority at least 0.5 % of their goal or 100 units: at most 50, the largest loss first. */
  readonly contending: readonly Contender[];
  readonly matched: Matched;
  /** Standard error of `available` relative to it: jackknife over 20 groups of listeners. */
  readonly samplingError: number;
  readonly sample: {
    readonly days: number;
    readonly rows: number;
    readonly effective: number;
    readonly replayed: number;
  };
}

export interface Contender {
  readonly lineItemId: string;
  readonly loses: number;
  readonly ofGoal: number | undefined;
  readonly tier: PlanLineItem['type'];
  readonly priority: number;
}

/** How much of the coming traffic one more line item could have, and who would have less (docs/forecasting.md#availability). */
export function findAvailability(_inputs: AvailabilityInputs): Availability {
  throw new Error('not written yet');
}
