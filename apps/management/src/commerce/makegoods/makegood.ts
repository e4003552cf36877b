import type { Attributes } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { refuseField } from '../../workspace/refuse-field.ts';
import { countedUnits, type LineItem } from '../../advertising/line-items/line-item.ts';

export type Makegood = Attributes<'makegoods'>;
type Delivery = Makegood['delivery'];

/** Per cent of a goal that may be missing without a makegood (IAB, Standard Terms and Conditions). */
const tolerancePct = 5;

/** States in which a makegood is not decided or not delivered yet. */
export const openStates: readonly string[] = ['proposed', 'accepted', 'scheduled'];

/** Units that a line item lacks of its goal. */
export const shortfallOf = ({ goal, confirmed, adjusted }: Omit<Delivery, 'measured_at'>): number =>
  Math.max(0, goal - confirmed - adjusted);

/** Whether so much is missing that it is made good. */
export const isShort = (delivery: Omit<Delivery, 'measured_at'>): boolean =>
  shortfallOf(delivery) * 100 > delivery.goal * tolerancePct;

/** Whether a line item can fall short: it was sold for a number of ads, and is no makegood itself. */
export const canFallShort = ({ goal, rate, makegood_of: makegoodOf }: Readonly<LineItem>): boolean =>
  countedUnits.includes(goal.unit) && rate.model !== 'none' && makegoodOf === undefined;

/** Units of earlier makegoods of the same line item: those of fulfilled ones, and what expired ones have delivered. */
export const unitsMadeGood = (
  earlier: readonly { readonly lifecycle_state: string; readonly attributes: Readonly<Makegood> }[],
): number =>
  earlier.reduce((sum, { lifecycle_state: state, attributes: { units, confirmed = 0 } }) => {
    if (state === 'fulfilled') return sum + units;
    return state === 'expired' ? sum + Math.min(units, confirmed) : sum;
  }, 0);

/** What units of a line item would have cost, rounded down; undefined where it is not sold by units. */
export function valueOf({ rate }: Pick<LineItem, 'rate'>, units: number): Makegood['value'] {
  if (!rate.price || (rate.model !== 'cpm' && rate.model !== 'cpcv')) return undefined;
  const sum = BigInt(rate.price.amount_micros) * BigInt(units);
  return { ...rate.price, amount_micros: String(rate.model === 'cpm' ? sum / 1000n : sum) };
}

/** Throws `state_not_allowed` for a line item that cannot fall short, or that has not ended. */
export function assertEnded(lineItem: Readonly<LineItem>, state: string): void {
  if (!canFallShort(lineItem))
    throw new Problem('state_not_allowed', 'Only a line item that was sold for a number of ads can be made good.');
  if (state !== 'completed' && state !== 'stopped')
    throw new Problem(
      'state_not_allowed',
      `The line item is “${state}”. It is made good when it has completed or was stopped.`,
    );
}

/**
 * Throws `validation_failed` unless the line item is short beyond the tolerance, and the units are no more than what is missing.
 * @param madeGood units of earlier makegoods
 */
export function assertMissing(delivery: Delivery, units: number, madeGood: number): void {
  const missing = shortfallOf(delivery) - madeGood;
  if (!isShort(delivery) || missing <= 0)
    refuseField(
      '/changes/for_line_item',
      'not_short',
      `It has ${delivery.confirmed + delivery.adjusted} of ${delivery.goal} units; up to ${tolerancePct} per cent may be missing.`,
    );
  if (units > missing) refuseField('/changes/units', 'above_shortfall', `Only ${missing} units are missing.`);
}
