import {
  buildIndex,
  decidePrepared,
  freshInputs,
  preparePlay,
  verdictCodes,
  type AdBreak,
  type DecisionContext,
  type PlanIndex,
  type VerdictCode,
} from '@longwave/ad-decision';
import type { PlanLineItem, PlanPolicy, ServingPlanDocument } from '@longwave/events';
import { createGroupSums, listenerGroupOf } from './listener-groups.ts';
import { createLocalTime } from './local-time.ts';
import type { SamplePlay } from './sample-play.ts';

/** Opportunities are slots; a line item takes one slot of a break at most, so its capacity is the number of breaks. */
interface MatchedCount {
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

/** Of the plan and its policies what one line item meets. */
export interface MatchOptions {
  readonly policies?: readonly PlanPolicy[];
  readonly floors?: ServingPlanDocument['floors'];
}

const always = { start: '1970-01-01T00:00:00Z', end: '9999-01-01T00:00:00Z' };

/** A plan of line items that may always serve, as far as their targeting and creatives are concerned, with its policies. */
export function planAlone(
  lines: readonly PlanLineItem[],
  { policies = [], floors = [] }: MatchOptions,
): readonly [ServingPlanDocument, readonly PlanPolicy[]] {
  const none = { scope: 'none' } as const;
  return [
    {
      ...{ format: 2, workspace_id: '', effective_from: always.start, inputs: [], floors },
      separation: { advertiser: none, group: none, category: none },
      line_items: lines.map((line) => ({
        ...line,
        window: always,
        goal: { unit: 'unlimited' as const },
        frequency_caps: [],
        creatives: line.creatives.map((creative) => ({ ...creative, window: null })),
      })),
    },
    policies,
  ];
}

/** The index of such a plan of one line item. */
export const indexAlone = (line: PlanLineItem, options: MatchOptions): PlanIndex =>
  buildIndex(...planAlone([line], options));

/** The break's verdict about the only line item of a plan: "won", or the first check that it fails. */
export type VerdictsOf = (play: Omit<DecisionContext, 'decisionId' | 'loudnessLufs'>) => readonly VerdictCode[];

const noFailures = () => [];

/**
 * Asks the core, break by break. Whether a creative fits a break depends on a few attributes of the play only, so those answers are kept.
 * @param index of one line item
 */
export function createVerdicts(index: PlanIndex): VerdictsOf {
  const fits = new Map<AdBreak, Map<string, VerdictCode>>();
  return (play) => {
    const context = { ...play, decisionId: '', loudnessLufs: undefined };
    const prepared = preparePlay(index, context);
    const hasPolicies = prepared.policies.versions.length > 0;
    return play.breaks.map((adBreak, at) => {
      const eligible = prepared.eligible[at]!;
      if (eligible.count === 0) return eligible.droppedBy.keys().next().value!;
      const key = `${play.streamFormat} ${play.streamFormats?.join() ?? ''} ${play.adLoadLimitMs ?? ''}`;
      let ofBreak = fits.get(adBreak);
      const found = hasPolicies ? undefined : ofBreak?.get(key);
      if (found) return found;
      const decision = decidePrepared(
        { ...prepared, context: { ...context, breaks: [adBreak] }, eligible: [{ ...eligible, failures: noFailures }] },
        freshInputs,
      );
      const verdict = decision.candidates[0]!.verdict;
      if (!ofBreak) fits.set(adBreak, (ofBreak = new Map()));
      ofBreak.set(key, verdict);
      return verdict;
    });
  };
}

type Counts = Map<string, { opportunities: number; capacity: number }>;

function count<K>(counts: Map<K, { opportunities: number; capacity: number }>, key: K, slots: number, weight: number) {
  const found = counts.get(key);
  if (!found) counts.set(key, { opportunities: slots, capacity: weight });
  else {
    found.opportunities += slots;
    found.capacity += weight;
  }
}

/**
 * Counts the breaks of sampled plays that a line item fits, whatever competes: its targeting and its creatives, not its window, goal or
 * caps. One verdict per break, the first check that fails.
 */
export function findMatched(
  line: PlanLineItem,
  plays: readonly SamplePlay[],
  { timeZone, ...options }: MatchOptions & { readonly timeZone: string },
): Matched {
  const verdictsOf = createVerdicts(indexAlone(line, options));
  const { dayStartOf } = createLocalTime(timeZone);
  const byPodcast: Counts = new Map();
  const byPosition: Counts = new Map();
  const byDay = new Map<number, { opportunities: number; capacity: number }>();
  const dropped = new Map<VerdictCode, number>();
  const groups = createGroupSums();
  const total = { offered: 0, opportunities: 0, capacity: 0, rows: 0, weight: 0, squares: 0 };
  plays.forEach((play, place) => {
    const { weight, podcastId } = play;
    let [slots, breaks] = [0, 0];
    verdictsOf(play).forEach((verdict, at) => {
      const { position, maxSlots } = play.breaks[at]!;
      const weighted = weight * maxSlots;
      total.offered += weighted;
      if (verdict !== 'won') {
        dropped.set(verdict, (dropped.get(verdict) ?? 0) + weighted);
        return;
      }
      slots += weighted;
      breaks++;
      count(byPosition, position, weighted, weight);
    });
    groups.add(podcastId, listenerGroupOf(play, place), weight * play.breaks.length, weight * breaks);
    if (breaks === 0) return;
    count(byPodcast, podcastId, slots, weight * breaks);
    count(byDay, dayStartOf(play.atMs), slots, weight * breaks);
    total.opportunities += slots;
    total.capacity += weight * breaks;
    total.rows++;
    total.weight += weight;
    total.squares += weight ** 2;
  });
  const { offered, opportunities, capacity, rows } = total;
  return {
    ...{ offered, opportunities, capacity, rows, byPodcast, byDay, byPosition },
    effectiveRows: rows === 0 ? 0 : total.weight ** 2 / total.squares,
    funnel: verdictCodes.flatMap((code) => {
      const lost = dropped.get(code);
      return lost === undefined ? [] : [{ code, opportunities: lost }];
    }),
    samplingError: groups.relativeError(),
  };
}
