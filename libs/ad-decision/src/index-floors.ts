import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';

/** Ordinals [from, to). */
export interface OrdinalRange {
  readonly from: number;
  readonly to: number;
}

/** Lines that compete by price and are too cheap; those of other tiers never are. */
export interface IndexedFloors {
  /** Under the podcast's floor at every position. */
  readonly belowFloor: (podcastId: string) => OrdinalRange;
  /** Under its floor at one position, without those that are under it at every one. */
  readonly belowFloorAt: (podcastId: string, position: BreakPosition) => OrdinalRange;
  /** The least of the floors that a podcast has at its positions, in micros for 1,000 slots; 0 without one. */
  readonly leastFloor: (podcastId: string) => number;
}

export type BreakPosition = PlanLineItem['break_positions'][number];

const positions = ['pre', 'mid', 'post'] as const satisfies readonly BreakPosition[];

const keyOf = (podcastId: string | null, position: BreakPosition | undefined) => `${position ?? ''} ${podcastId ?? ''}`;

/**
 * A podcast's floor at a position is its own there, else its own for all positions, else that of podcasts without one, again at the
 * position first.
 * @param lines in the order of their ordinals, by falling price within [from, to)
 */
export function indexFloors(
  floors: ServingPlanDocument['floors'],
  lines: readonly { readonly cpmMicros: number }[],
  { from, to }: OrdinalRange,
): IndexedFloors {
  const byKey = new Map(floors.map((floor) => [keyOf(floor.podcast_id, floor.position), floor.min_cpm_micros]));
  const floorOf = (podcastId: string, position: BreakPosition) =>
    byKey.get(keyOf(podcastId, position)) ??
    byKey.get(keyOf(podcastId, undefined)) ??
    byKey.get(keyOf(null, position)) ??
    byKey.get(keyOf(null, undefined)) ??
    0;
  /** The first ordinal whose price is under the floor. */
  const firstBelow = (floor: number) => {
    let low = from;
    for (let high = to; low < high;) {
      const middle = (low + high) >>> 1;
      if (lines[middle]!.cpmMicros >= floor) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const leastFloor = (podcastId: string) => Math.min(...positions.map((one) => floorOf(podcastId, one)));
  const lowest = (podcastId: string) => firstBelow(leastFloor(podcastId));
  const isByPosition = floors.some(({ position }) => position !== undefined);
  return {
    belowFloor: (podcastId) => ({ from: isByPosition ? lowest(podcastId) : firstBelow(floorOf(podcastId, 'pre')), to }),
    belowFloorAt: (podcastId, position) =>
      isByPosition ? { from: firstBelow(floorOf(podcastId, position)), to: lowest(podcastId) } : { from: to, to },
    leastFloor,
  };
}
