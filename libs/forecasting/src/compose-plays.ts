import type { DecisionContext } from '@longwave/ad-decision';
import type { SamplePlay } from './sample-play.ts';
import type { TimeRange } from './traffic-history.ts';

/** Factor by which the traffic of a podcast at a time differs from that of the sampled weeks before it. */
export type TrafficFactors = (podcastId: string, atMs: number) => number;

/** A play of a simulation: a decision's context under an id of its own, and its listener. */
export interface SimulatedPlay extends DecisionContext {
  /** '' when there is none. */
  readonly listener: string;
}

/** Plays of equal weight in time order. */
export interface EqualPlays {
  readonly plays: readonly SimulatedPlay[];
  /** Plays of the real traffic for each. */
  readonly scale: number;
}

/**
 * Plays of a coming window: for each of its days the sampled plays of the same weekday of the weeks before, weighted by the factors.
 * They keep their weights; `resamplePlays` makes them equal.
 */
export function projectPlays(
  _plays: readonly SamplePlay[],
  _window: TimeRange & { readonly timeZone: string },
  _factors?: TrafficFactors,
): readonly SamplePlay[] {
  throw new Error('not written yet');
}

/**
 * Plays of equal weight, drawn systematically from weighted ones (ADR 84), each under a new decision id. Listeners stay together where
 * `byListener` says so: the plan has caps.
 */
export function resamplePlays(
  _plays: readonly SamplePlay[],
  _options: { readonly count: number; readonly seed: number; readonly byListener?: boolean },
): EqualPlays {
  throw new Error('not written yet');
}
