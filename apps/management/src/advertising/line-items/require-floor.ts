import { productCatalog } from '@longwave/command-catalog';
import { listInStates } from '@longwave/command-pipeline';
import type { ServingPlanDocument } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { floorsOf, resolveTargeting } from '../serving-plans/plan-targeting.ts';
import type { LineItem } from './line-item.ts';

type Floors = ServingPlanDocument['floors'];

/** A place where a line item may serve: a podcast, or null for all without floors of their own. */
interface FlooredPlace {
  readonly podcastId: string | null;
  readonly position: LineItem['break_positions'][number];
}

/**
 * A place where the price per thousand is below the floor. A podcast's floor at a position is its own there, else its own for all
 * positions, else that of podcasts without one, again at the position first.
 * @param targeted podcasts of the line item; without included ones it serves in all
 */
export function findBelowFloor(
  priceMicros: bigint,
  targeted: {
    readonly podcasts: { readonly include: readonly string[]; readonly exclude: readonly string[] };
    readonly positions: LineItem['break_positions'];
  },
  floors: Floors,
): FlooredPlace | undefined {
  const { include, exclude } = targeted.podcasts;
  const floorAt = (podcastId: string | null, position?: FlooredPlace['position']) =>
    floors.find((floor) => floor.podcast_id === podcastId && floor.position === position)?.min_cpm_micros;
  const podcastIds = include.length > 0 ? include : [...new Set([null, ...floors.map((floor) => floor.podcast_id)])];
  return podcastIds
    .filter((podcastId) => podcastId === null || !exclude.includes(podcastId))
    .flatMap((podcastId) => targeted.positions.map((position) => ({ podcastId, position })))
    .find(({ podcastId, position }) => {
      const floor = floorAt(podcastId, position) ?? floorAt(podcastId) ?? floorAt(null, position) ?? floorAt(null) ?? 0;
      return priceMicros < BigInt(floor);
    });
}

/**
 * Throws `line_item_not_bookable` for a guaranteed line item that is sold by the thousand for less than a floor of a place where it may
 * serve: once booked, it serves there nevertheless, for floors bind non-guaranteed line items alone.
 */
export async function requireFloor(
  tx: Transaction,
  workspaceId: string,
  { type, rate, targeting, break_positions: positions }: Readonly<LineItem>,
): Promise<void> {
  if (type !== 'guaranteed' || rate.model !== 'cpm' || !rate.price) return;
  const { type: unitType, states } = productCatalog.resources.inventory_units;
  const units = await listInStates(tx, workspaceId, unitType, states);
  const resolved = resolveTargeting(targeting, new Map(units.map((unit) => [unit.id, unit])));
  if (!resolved) return;
  const { podcasts } = resolved;
  const place = findBelowFloor(BigInt(rate.price.amount_micros), { podcasts, positions }, floorsOf(units));
  if (!place) return;
  const { podcastId, position } = place;
  throw new Problem(
    'line_item_not_bookable',
    `Its price is below the floor of ${podcastId ?? 'podcasts without a floor of their own'} at position ${position}. Raise it, or send allow_below_floor with a cause: another person approves it.`,
  );
}
