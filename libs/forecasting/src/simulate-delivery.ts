import type { PlanIndex, VerdictCode } from '@longwave/ad-decision';
import type { PlanPolicy, ServingPlanDocument } from '@longwave/events';
import type { EqualPlays, TrafficFactors } from './compose-plays.ts';
import type { SamplePlay } from './sample-play.ts';
import type { TimeRange } from './traffic-history.ts';

/** What a simulation of delivery is made of. */
export interface DeliveryInputs {
  readonly plan: ServingPlanDocument;
  readonly policies?: readonly PlanPolicy[];
  /** Of some weeks before the window. */
  readonly plays: readonly SamplePlay[];
  readonly days: TimeRange & { readonly timeZone: string };
  /** Units that each line item with a goal still lacks, of its counting basis; absent: its whole goal. */
  readonly goalsLeft?: ReadonlyMap<string, number>;
  /** Confirmed ÷ decided; absent: 1. */
  readonly deliveryRates?: ReadonlyMap<string, number>;
  readonly trafficFactors?: TrafficFactors;
  /** Plays that are decided; 40,000 unless said. */
  readonly count?: number;
  readonly seed?: number;
}

/** Units of one line item in the real traffic of the window, in its counting basis (decided × delivery rate). */
export interface LineDelivery {
  readonly lineItemId: string;
  /** Undefined without a goal of units. */
  readonly goalLeft: number | undefined;
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
  /** Per play the place of its first pick in `picks`, and at the end the number of picks. */
  readonly firstPicks: Uint32Array;
  /** Ordinal × 256 + number of the break in the play. */
  readonly picks: Float64Array;
  readonly goalsLeft: ReadonlyMap<string, number>;
  readonly deliveryRates: ReadonlyMap<string, number>;
}

export interface DeliverySimulation {
  readonly lines: readonly LineDelivery[];
  readonly baseline: DeliveryBaseline;
}

/** Decides the plays of the window one after another by `decide`, as the pacer would give credit (docs/forecasting.md#delivery). */
export function simulateDelivery(_inputs: DeliveryInputs): DeliverySimulation {
  throw new Error('not written yet');
}

export interface DeliveryQuantiles {
  readonly lineItemId: string;
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
  /** Main verdict when p50 is short of its goal. */
  readonly shortBy: VerdictCode | undefined;
}

/**
 * Three simulations: of the expected traffic, and of the ends of its interval.
 * @param traffic ends of the 80 % interval of the traffic ÷ its middle, for example 0.85 and 1.18
 */
export function forecastDelivery(
  _inputs: DeliveryInputs,
  _traffic: { readonly low: number; readonly high: number },
): { readonly lines: readonly DeliveryQuantiles[]; readonly baseline: DeliveryBaseline } {
  throw new Error('not written yet');
}
