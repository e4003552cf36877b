import type { VerdictCode } from '@longwave/ad-decision';
import type { PlanLineItem, PlanPolicy } from '@longwave/events';
import type { SamplePlay } from './sample-play.ts';

/** Opportunities are slots; a line item takes one slot of a break at most, so its capacity is the number of breaks. */
export interface MatchedCount {
  /** Slots of the breaks that fit. */
  readonly opportunities: number;
  /** Breaks that fit. */
  readonly capacity: number;
}

/** What of the sampled traffic one line item fits; all numbers but `rows` are weighted. */
export interface Matched extends MatchedCount {
  /** Slots of all plays. */
  readonly offered: number;
  /** Rows of the sample with a break that fits. */
  readonly rows: number;
  /** Rows of equal weight that would be as exact: (Σ weight)² ÷ Σ weight². */
  readonly effectiveRows: number;
  /** Slots by the first verdict that speaks against the line item, in the order of the checks; with those that fit they are `offered`. */
  readonly funnel: readonly { readonly code: VerdictCode; readonly opportunities: number }[];
  readonly byPodcast: ReadonlyMap<string, MatchedCount>;
  /** By the start of the day in the zone of the question. */
  readonly byDay: ReadonlyMap<number, MatchedCount>;
  readonly byPosition: ReadonlyMap<string, MatchedCount>;
  /** Standard error of `capacity` relative to it: jackknife over 20 groups of listeners. */
  readonly samplingError: number;
}

/** Counts the breaks of sampled plays that a line item fits, whatever competes: its targeting and its creatives, not its window, goal or caps. */
export function findMatched(
  _line: PlanLineItem,
  _plays: readonly SamplePlay[],
  _options: { readonly timeZone: string; readonly policies?: readonly PlanPolicy[] },
): Matched {
  throw new Error('not written yet');
}
