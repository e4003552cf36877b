import type { PlanLineItem } from '@longwave/events';
import type { TrafficFactors } from './compose-plays.ts';
import type { SamplePlay } from './sample-play.ts';
import type { TimeRange } from './traffic-history.ts';
import type { TrafficModel } from './traffic-model.ts';

/** Expected opportunities (slots) of a window. */
export interface TrafficForecast {
  readonly opportunities: number;
  /** By the start of the day in the model's zone. */
  readonly byDay: readonly { readonly dayMs: number; readonly opportunities: number }[];
  readonly byPodcast: readonly { readonly podcastId: string; readonly opportunities: number }[];
  /** By the shares of the sampled plays; empty without a sample. */
  readonly byPosition: readonly { readonly position: string; readonly opportunities: number }[];
  /** Podcasts that know too little of themselves. */
  readonly learningPodcasts: readonly string[];
  /** Modifiers that change a number of the answer. */
  readonly modifierIds: readonly string[];
}

/**
 * @param plays the sample, for shares by position and for what `line` fits; without it a line item fits by podcast alone
 * @param line counts only what it fits: its targeting and creatives, not its window
 */
export function forecastTraffic(_inputs: {
  readonly model: TrafficModel;
  readonly window: TimeRange;
  readonly plays?: readonly SamplePlay[];
  readonly line?: PlanLineItem;
}): TrafficForecast {
  throw new Error('not written yet');
}

/**
 * F(t): opportunities that fit the line item's targeting, by hour of a window, from which the pacer's plan is made.
 * @returns one number per hour from `Math.floor(fromMs / 3_600_000)` on
 */
export function expectedOpportunities(
  _line: PlanLineItem,
  _inputs: { readonly model: TrafficModel; readonly plays: readonly SamplePlay[]; readonly window: TimeRange },
): Float64Array {
  throw new Error('not written yet');
}

/** Forecast of each podcast and day ÷ what `projectPlays` would make of the sample there. */
export function findTrafficFactors(
  _model: TrafficModel,
  _plays: readonly SamplePlay[],
  _window: TimeRange,
): TrafficFactors {
  throw new Error('not written yet');
}
