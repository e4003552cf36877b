import {
  addBit,
  buildIndex,
  capKeysOf,
  decidePrepared,
  hasBit,
  type Decision,
  type DecisionInputs,
  type PlanIndex,
  type PreparedPlay,
} from '@longwave/ad-decision';
import type { PlanLineItem } from '@longwave/events';
import type { SimulatedPlay } from './compose-plays.ts';
import { moveFits, type LineFits } from './line-fits.ts';
import { maxBreaks, pickedOrdinal, type DeliveryBaseline } from './simulate-delivery.ts';
import { createListeners, type SimulatedListeners } from './simulated-listeners.ts';

/** Priorities of line items end at 10. */
const behindAll = 11;

/** A pick of the baseline. */
export interface PlacedPick {
  /** Of the extended index. */
  readonly ordinal: number;
  readonly inBreak: number;
}

/** A baseline in the ordinals of an index that has one more line item, twice: at its own place, and behind every guaranteed one. */
export interface Extended {
  readonly baseline: DeliveryBaseline;
  readonly index: PlanIndex;
  readonly own: number;
  readonly behind: number;
  readonly picksOf: (at: number) => readonly PlacedPick[];
  /** Which of the other line items fit plays. */
  readonly fits: LineFits;
}

/**
 * The plan with the prospective line item; a line item of its id is left out, with what it was given. Of the others those take part that
 * were given something: no other can lose, or take the place of one that does.
 */
export function extendBaseline(baseline: DeliveryBaseline, prospective: PlanLineItem): Extended {
  const id = prospective.line_item_id;
  const isPriced = prospective.type === 'non_guaranteed' || prospective.type === 'house';
  // With a goal the core asks what is left of it.
  const own: PlanLineItem = { ...prospective, goal: { unit: 'impressions', quantity: 1 } };
  const behind: PlanLineItem = {
    ...own,
    line_item_id: `${id}\u0000behind`,
    ...(!isPriced && { type: 'guaranteed', priority: behindAll }),
  };
  const given = new Set(Array.from(baseline.picks, (pick) => baseline.index.lines[pickedOrdinal(pick)]!.lineItemId));
  const others = baseline.plan.line_items.filter((line) => line.line_item_id !== id && given.has(line.line_item_id));
  const index = buildIndex({ ...baseline.plan, line_items: [...others, own, behind] }, baseline.policies);
  const ordinals = new Map(index.lines.map(({ lineItemId }, ordinal) => [lineItemId, ordinal]));
  const moved = baseline.index.lines.map(({ lineItemId }) =>
    lineItemId === id ? -1 : (ordinals.get(lineItemId) ?? -1),
  );
  const { firstPicks, picks } = baseline;
  return {
    baseline,
    index,
    own: ordinals.get(id)!,
    behind: ordinals.get(behind.line_item_id)!,
    picksOf: (at) =>
      Array.from(picks.subarray(firstPicks[at], firstPicks[at + 1]), (pick) => ({
        ordinal: moved[pickedOrdinal(pick)] ?? -1,
        inBreak: pick % maxBreaks,
      })).filter(({ ordinal }) => ordinal >= 0),
    fits: moveFits(baseline.fits, moved),
  };
}

type Eligible = PreparedPlay['eligible'][number];

/** Room for the sets of a decision, one for each index: the next decision overwrites it. */
const rooms = new WeakMap<PlanIndex, Uint32Array>();

function roomOf(index: PlanIndex, words: number): Uint32Array {
  const known = rooms.get(index);
  if (known && known.length >= words) return known.fill(0, 0, words);
  const room = new Uint32Array(words);
  rooms.set(index, room);
  return room;
}

/** Decides a play among these line items of the plan, whatever else fits it. */
export function decideAmong(
  index: PlanIndex,
  play: SimulatedPlay,
  candidates: readonly Iterable<number>[],
  counters: Omit<DecisionInputs, 'suspended'>,
): Decision {
  const words = index.all.length;
  const room = roomOf(index, words * candidates.length);
  const eligible = candidates.map((ordinals, at): Eligible => {
    const bits = room.subarray(at * words, (at + 1) * words);
    let count = 0;
    for (const ordinal of ordinals) {
      if (!hasBit(bits, ordinal)) count++;
      addBit(bits, ordinal);
    }
    return { bits, count, droppedBy: new Map(), failures: () => [], tests: [] };
  });
  const policies = index.policies.inPlay(play);
  return decidePrepared({ index, context: play, suspended: undefined, policies, eligible }, counters, {
    isTraced: false,
  });
}

/** A share that always lacks: who won with it wins with it again. */
export const lackingShare = () => ({ served: 0, opportunities: 0 });

/** Frequency records in which picks of the baseline are counted, where the plan has caps. */
export function createRecords({ index, baseline }: Pick<Extended, 'index' | 'baseline'>): {
  readonly listeners: SimulatedListeners;
  readonly hear: (play: SimulatedPlay, picks: readonly PlacedPick[]) => void;
} {
  const listeners = createListeners();
  const asksListener = baseline.index.asksListener || index.asksListener;
  return {
    listeners,
    hear: (play, picks) => {
      if (!asksListener) return;
      for (const { ordinal, inBreak } of picks) {
        const episodeBreak = { episodeId: play.episodeId, breakKey: play.breaks[inBreak]!.key };
        const keys = capKeysOf(index.lines[ordinal]!, episodeBreak, index.policies.capPers);
        listeners.hear(play.listener, keys, play.atMs);
      }
    },
  };
}
