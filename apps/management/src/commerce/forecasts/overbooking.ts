import { overbooking } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { CheckAvailabilityResponse } from '@longwave/rpc/forecast';
import type { z } from 'zod';
import type { LineItem } from '../../advertising/line-items/line-item.ts';

/** Slots, or per cent of breaks, that are promised beyond what is left, and who would lose what of which goal. */
export type Overbooking = z.output<typeof overbooking>;

/** What a forecast takes for chance: it names no smaller loss (docs/forecasting.md#availability). */
const chance = (quantity: number) => Math.min(100, Math.floor(quantity * 0.005));

/**
 * Throws `inventory_not_available`, which says what has changed, when an overbooking is worse than the one that was approved.
 * @param approved as the review task keeps it; undefined where its reviewers were shown none, because it fitted or too little was known
 */
export function assertNoWorse(found: Overbooking, approved: unknown): void {
  const {
    overbooked_by: before = 0,
    overbooked_share_pct: shareBefore = 0,
    contending,
  } = overbooking.parse(approved ?? { contending: [] });
  const { overbooked_by: by = 0, overbooked_share_pct: share = 0 } = found;
  const lossOf = new Map(contending.map(({ line_item_id: id, loses }) => [id, loses]));
  const worse = found.contending.flatMap(({ line_item_id: id, loses, of_goal: ofGoal }) => {
    const shown = lossOf.get(id) ?? 0;
    return loses > shown + chance(ofGoal) ? [`${id} would lose ${loses} instead of ${shown}.`] : [];
  });
  if (by > before + chance(before)) worse.unshift(`${by} more than is left would be promised instead of ${before}.`);
  if (share > shareBefore)
    worse.unshift(`${share} per cent more than is left of a break would be promised instead of ${shareBefore}.`);
  if (worse.length === 0) return;
  const detail = `What was approved has changed. ${worse.slice(0, 10).join(' ')} Send the command again.`;
  throw new Problem('inventory_not_available', detail);
}

/** Whether a line item is sold by its share of breaks; an exclusive one has them alone. It goes before every promised goal. */
export const sharesBreaks = ({ type }: Pick<LineItem, 'type'>): boolean =>
  type === 'sponsorship' || type === 'exclusive';

type Found = Pick<CheckAvailabilityResponse, 'capacity' | 'available' | 'nearest' | 'contending' | 'shareTakenPct'>;

/** What a sale would promise beyond what is left, and the problem for which it is refused without `allow_overbook`. */
interface Over {
  readonly shown: Overbooking;
  readonly refusal: Problem;
}

const contendingOf = ({ contending }: Pick<Found, 'contending'>) =>
  contending.map(({ lineItemId, loses, ofGoal }) => ({
    ...{ line_item_id: lineItemId, loses: Number(loses), of_goal: Number(ofGoal) },
  }));

/** The refusal: how much there is, who has the rest, and what would fit. @param nearest the largest quantity, or share, that fits */
function refusalOf(found: Found, nearest: number, detail: string): Problem {
  const [capacity, available] = [Number(found.capacity), Number(found.available)];
  const path = '/attributes/goal/quantity';
  return new Problem('inventory_not_available', detail, {
    errors: [
      { path, code: 'capacity', detail: String(capacity) },
      { path, code: 'available', detail: String(available) },
      { path, code: 'nearest', detail: String(nearest) },
      ...found.contending.map(({ lineItemId, loses, ofGoal }) => ({
        ...{ path, code: 'contending' },
        detail: `${lineItemId} would lose ${loses}${ofGoal > 0n ? ` of ${ofGoal}` : ''}.`,
      })),
    ],
    members: {
      ...{ capacity, available, nearest },
      contending: contendingOf(found).map((one, at) => ({ ...one, tier: found.contending[at]!.tier })),
    },
  });
}

/** By how much a quantity exceeds what is left; undefined when it fits. @param percent that the workspace sells more than there is */
export function overSold({ goal }: Pick<LineItem, 'goal'>, found: Found, percent: number): Over | undefined {
  const quantity = goal.quantity!;
  const allowed = Math.floor(Number(found.nearest) * (1 + percent / 100));
  if (quantity <= allowed) return undefined;
  const fits = allowed > 0 ? `A quantity of ${allowed} fits.` : 'None is left in this window.';
  const taken = found.available >= quantity ? ', some of which others with a promised goal need' : '';
  const detail = `Of ${found.capacity} slots that fit, ${found.available} are left for ${quantity}${taken}. ${fits}`;
  return {
    shown: { overbooked_by: quantity - allowed, contending: contendingOf(found) },
    refusal: refusalOf(found, allowed, detail),
  };
}

/** What sponsorships and exclusive line items would have of a break beyond all of it, and what promised goals would lose by one more. */
export function overShared({ goal }: Pick<LineItem, 'goal'>, found: Found): Over | undefined {
  const share = goal.quantity ?? 100;
  const left = Math.max(0, 100 - found.shareTakenPct);
  // Whether others of its kind get their share says the sum.
  const promised = { ...found, contending: found.contending.filter(({ tier }) => tier === 'guaranteed') };
  const lost = promised.contending.reduce((sum, { loses }) => sum + Number(loses), 0);
  if (share <= left && lost === 0) return undefined;
  const detail = [
    ...(share > left
      ? [`${left} per cent are left of a break that it shares with others; it is to have ${share}.`]
      : []),
    ...(lost > 0 ? [`Line items with a promised goal would lose ${lost}.`] : []),
  ].join(' ');
  return {
    shown: {
      ...(share > left && { overbooked_share_pct: share - left }),
      ...(lost > 0 && { overbooked_by: lost }),
      contending: contendingOf(promised),
    },
    refusal: refusalOf(promised, share > left ? left : 0, detail),
  };
}
