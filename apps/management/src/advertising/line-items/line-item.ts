import { isDeepStrictEqual } from 'node:util';
import type { Attributes, ChangesOf, StateOf } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { refuseField } from '../../workspace/refuse-field.ts';

export type LineItem = Attributes<'line_items'>;
type Amendment = Omit<ChangesOf<'line_item.amend'>, 'effective_at' | 'allow_overbook' | 'allow_below_floor' | 'cause'>;
type FlightState = NonNullable<LineItem['paused_from']>;

/** Half-open: `end` is no part of it. */
export interface Window {
  readonly start: string;
  readonly end: string;
}

const notNow = (detail: string) => new Problem('state_not_allowed', detail);
const isPast = (instant: string, now: Date) => Date.parse(instant) <= now.getTime();

/** The units of a goal that each type of line item may have. */
const unitsOf: Readonly<Record<LineItem['type'], readonly LineItem['goal']['unit'][]>> = {
  exclusive: ['unlimited'],
  sponsorship: ['share_pct'],
  guaranteed: ['impressions', 'completes'],
  non_guaranteed: ['impressions', 'completes', 'unlimited'],
  house: ['impressions', 'completes', 'unlimited'],
};

/** States of a line item that was not booked yet. */
export const unsoldStates: readonly StateOf<'line_items'>[] = [
  'draft',
  'pending_review',
  'declined',
  'approved',
  'reserved',
  'reservation_expired',
];

/** Goals that delivered ads are counted against. */
export const countedUnits: readonly string[] = ['impressions', 'completes'];

/** Throws `validation_failed` for type and goal that do not go together. */
export function checkLineItem({ type, goal }: Pick<LineItem, 'type' | 'goal'>): void {
  if (!unitsOf[type].includes(goal.unit))
    refuseField(
      '/changes/goal/unit',
      'wrong_unit',
      `A line item of type ${type} is bought by ${unitsOf[type].join(' or ')}.`,
    );
  if ((goal.daily_min ?? goal.daily_max) !== undefined && !countedUnits.includes(goal.unit))
    refuseField('/changes/goal', 'no_daily_bounds', `A goal in ${goal.unit} has no daily bounds.`);
  if (goal.daily_min !== undefined && goal.daily_min > goal.quantity!)
    refuseField('/changes/goal/daily_min', 'above_goal', 'A day cannot take more than the whole goal.');
}

/** Throws `validation_failed` for a price that decisions cannot compare: non-guaranteed line items compete by their price per thousand. */
export function checkRate({ type, rate }: Pick<LineItem, 'type' | 'rate'>): void {
  if (type === 'non_guaranteed' && !['cpm', 'none'].includes(rate.model))
    refuseField('/changes/rate/model', 'wrong_model', 'A line item that is not guaranteed competes by its CPM.');
}

/** Throws `validation_failed` for a price in another currency than before: statements charge in one, and convert none. */
export function checkCurrency({ rate }: Pick<LineItem, 'rate'>, changes: Pick<Amendment, 'rate'>): void {
  const [before, after] = [rate.price?.currency, changes.rate?.price?.currency];
  if (before !== undefined && after !== undefined && before !== after)
    refuseField(
      '/changes/rate/price/currency',
      'other_currency',
      `It was sold in ${before}. Stop it, and sell another one in ${after}.`,
    );
}

/** Whether a line item with these terms has another price than with those, or counts other units for it. */
export const chargesOtherwise = (a: Readonly<LineItem>, b: Readonly<LineItem>): boolean =>
  a.goal.unit !== b.goal.unit ||
  a.rate.model !== b.rate.model ||
  a.rate.price?.amount_micros !== b.rate.price?.amount_micros;

/** Prices that a line item has at most; statements have a line for each, and the ledger answers for 1,000. */
const maxPrices = 500;

/** Throws `validation_failed` when a line item has had so many prices that one more could not be charged. */
export function checkFewPrices(priceChanges: number, { rate }: Pick<Amendment, 'rate'>): void {
  if (priceChanges < maxPrices - 1) return;
  refuseField(
    rate ? '/changes/rate' : '/changes/goal/unit',
    'too_many_prices',
    `A line item has at most ${maxPrices} prices, one after the other. Stop it, and sell another one.`,
  );
}

/**
 * Throws `validation_failed` for a window outside of the campaign's, in which no ad would ever serve. The compiler of plans cuts a window
 * that exceeds the campaign's.
 */
export function checkWindow(window: Window, campaign: Window): void {
  checkLength(window);
  if (Date.parse(window.start) < Date.parse(campaign.end) && Date.parse(campaign.start) < Date.parse(window.end))
    return;
  refuseField(
    '/changes/window',
    'outside_campaign',
    `The campaign lasts from ${campaign.start} to ${campaign.end}. Choose a window in it.`,
  );
}

/** The longest flight, and the earliest: pacing and forecasts plan every hour of it. */
const maxFlightMs = 1_100 * 86_400_000;
const firstStartMs = Date.UTC(2000, 0, 1);

/** Throws `validation_failed` for a window that is longer than three years, or begins before 2000. */
function checkLength({ start, end }: Window, path = '/changes/window/end'): void {
  if (Date.parse(start) < firstStartMs)
    refuseField('/changes/window/start', 'too_early', 'Choose a start from 2000 on.');
  if (Date.parse(end) - Date.parse(start) > maxFlightMs)
    refuseField(path, 'too_long', 'A line item lasts at most 1,100 days. Choose an earlier end.');
}

/** Throws `validation_failed` for a window that has ended: a line item is ended by stopping it, not by an amendment. */
export function checkOpen({ end }: Window, now: Date): void {
  if (isPast(end, now))
    refuseField('/changes/window/end', 'not_future', 'Choose an end to come, or stop the line item.');
}

/** Whether a counted goal is not reached yet; other goals are neither reached nor missed. */
const isGoalUnmet = ({ goal }: Pick<LineItem, 'goal'>, delivered: number): boolean =>
  countedUnits.includes(goal.unit) && delivered < goal.quantity!;

function without<K extends keyof LineItem>(lineItem: Readonly<LineItem>, ...names: readonly K[]): LineItem {
  const kept: Partial<LineItem> = { ...lineItem };
  for (const name of names) delete kept[name];
  return kept as LineItem;
}

/** What an amendment changes, apart from when, and from what it asks to be allowed. */
export function proposal({
  effective_at,
  allow_overbook,
  allow_below_floor,
  cause: _why,
  ...proposed
}: ChangesOf<'line_item.amend'>) {
  return { proposed, effective_at, allow_overbook, allow_below_floor };
}

/** The line item with the changes of an amendment. */
export function amended(
  lineItem: Readonly<LineItem>,
  { goal, window, rate, pacing, targeting, frequency_caps, external_ids }: Amendment,
) {
  const next: LineItem = {
    ...lineItem,
    ...(goal && { goal }),
    ...(window && { window }),
    ...(rate && { rate }),
    ...(pacing && { pacing }),
    ...(targeting && { targeting }),
    ...(frequency_caps && { frequency_caps }),
    ...(external_ids && { external_ids }),
  };
  checkLineItem(next);
  return next;
}

/** Whether an amendment asks for slots that the line item was not promised: more of them, at other times, or of other plays. */
export function asksForMore(
  { goal, frequency_caps: caps }: Pick<LineItem, 'goal' | 'frequency_caps'>,
  changes: Amendment,
): boolean {
  if (changes.window ?? changes.targeting) return true;
  // Caps bound it from all sides: others than before may leave it more plays.
  if (
    changes.frequency_caps &&
    caps.some((cap) => !changes.frequency_caps!.some((kept) => isDeepStrictEqual(cap, kept)))
  )
    return true;
  if (!changes.goal) return false;
  const { unit, quantity = 0, daily_min: least, daily_max: most } = changes.goal;
  return unit !== goal.unit || quantity > (goal.quantity ?? 0) || least !== goal.daily_min || most !== goal.daily_max;
}

/** The line item as it will be when its waiting amendment takes effect; undefined when none waits. */
export const afterAmendment = (lineItem: Readonly<LineItem>): LineItem | undefined =>
  lineItem.amendment && amended(without(lineItem, 'amendment'), lineItem.amendment);

/** The line item with its due amendment. Throws `state_not_allowed` when none is due. */
export function withDueAmendment(lineItem: Readonly<LineItem>, now: Date): LineItem {
  const { amendment } = lineItem;
  if (!amendment || !isPast(amendment.effective_at, now)) throw notNow('No amendment is due.');
  return afterAmendment(lineItem)!;
}

/** How long slots are held for a customer at most. */
const maxReservationMs = 30 * 86_400_000;

/** The line item held for a customer until a future time, at most 30 days away. */
export function reserved(lineItem: Readonly<LineItem>, expiresAt: string, now: Date): LineItem {
  if (isPast(expiresAt, now)) refuseField('/changes/expires_at', 'not_future', 'Choose a time to come.');
  if (Date.parse(expiresAt) > now.getTime() + maxReservationMs)
    refuseField('/changes/expires_at', 'too_late', 'A reservation holds at most 30 days. Choose an earlier time.');
  return { ...lineItem, reserved_until: expiresAt };
}

/** The line item without its reservation. */
export const unreserved = (lineItem: Readonly<LineItem>): LineItem => without(lineItem, 'reserved_until');

/** The line item without its expired reservation. Throws `state_not_allowed` before it expires. */
export function expired(lineItem: Readonly<LineItem>, now: Date): LineItem {
  const { reserved_until: until } = lineItem;
  if (until !== undefined && !isPast(until, now)) throw notNow('The reservation still holds.');
  return unreserved(lineItem);
}

/** Throws `state_not_allowed` unless its window has opened. */
export function checkStart({ window }: Readonly<LineItem>, now: Date): void {
  if (!isPast(window.start, now)) throw notNow('The window has not opened yet.');
}

/**
 * Completes a flight whose window has ended, or extends it. Throws `state_not_allowed` before the end.
 * @param at.delivered ads counted so far; undefined when they decide nothing
 */
export function endFlight(
  lineItem: Readonly<LineItem>,
  at: { readonly state: string; readonly campaign: Window; readonly delivered: number | undefined; readonly now: Date },
): { readonly attributes: LineItem; readonly state: 'completed' | 'delivery_extended' } {
  const { state, campaign, delivered, now } = at;
  const over = state === 'delivery_extended' ? campaign.end : lineItem.window.end;
  if (!isPast(over, now)) throw notNow('The window is not over yet.');
  const goesOn =
    state === 'delivering' &&
    lineItem.auto_extend === true &&
    isGoalUnmet(lineItem, delivered ?? 0) &&
    !isPast(campaign.end, now);
  const attributes = { ...without(lineItem, 'amendment'), ...(delivered !== undefined && { delivered }) };
  return goesOn ? { attributes: lineItem, state: 'delivery_extended' } : { attributes, state: 'completed' };
}

/** The line item, completed because its goal is reached. Throws `state_not_allowed` when it is not. */
export function completed(lineItem: Readonly<LineItem>, delivered: number): LineItem {
  if (!countedUnits.includes(lineItem.goal.unit) || isGoalUnmet(lineItem, delivered))
    throw notNow('The goal is not reached yet.');
  return { ...without(lineItem, 'amendment'), delivered };
}

/** The line item, paused; it keeps its state for the resumption. */
export const paused = (lineItem: Readonly<LineItem>, state: string): LineItem => ({
  ...lineItem,
  paused_from: state as FlightState,
});

/** The line item after its pause, in the state before it. Throws `state_not_allowed` when its window has ended. */
export function resumed(
  lineItem: Readonly<LineItem>,
  campaign: Window,
  now: Date,
): { readonly attributes: LineItem; readonly state: FlightState } {
  const state = lineItem.paused_from ?? 'booked';
  if (isPast(state === 'delivery_extended' ? campaign.end : lineItem.window.end, now))
    throw notNow('The window is over. Extend the line item, or stop it.');
  return { attributes: without(lineItem, 'paused_from'), state };
}

interface EndedEarly {
  readonly state: string;
  readonly delivered: number;
  readonly now: Date;
}

/** Whether a booked or paused flight has begun: by the clock, or because an ad of it was delivered. */
const hasBegun = ({ paused_from: from, window }: Readonly<LineItem>, { state, delivered, now }: EndedEarly): boolean =>
  delivered > 0 || (state === 'paused' && (from !== 'booked' || isPast(window.start, now)));

/** The line item, ended early. Throws `state_not_allowed` for one that was paused before it began, which is cancelled instead. */
export function stopped(lineItem: Readonly<LineItem>, at: EndedEarly): LineItem {
  if (at.state === 'paused' && !hasBegun(lineItem, at))
    throw notNow('The flight has not begun. Cancel the line item instead.');
  return without(lineItem, 'paused_from', 'amendment');
}

/** The line item, cancelled before it delivered anything. Throws `state_not_allowed` for a flight that has begun. */
export function cancelled(lineItem: Readonly<LineItem>, at: EndedEarly): LineItem {
  if (hasBegun(lineItem, at)) throw notNow('The flight has begun. Stop the line item instead.');
  return without(lineItem, 'paused_from', 'amendment', 'reserved_until');
}

/** The line item with a later end. Throws `validation_failed` for an earlier end, and when the campaign does not last longer. */
export function extended(
  lineItem: Readonly<LineItem>,
  { end, extensionCause }: { readonly end: string; readonly extensionCause: string },
  campaign: Window,
  now: Date,
): LineItem {
  if (Date.parse(end) <= Date.parse(lineItem.window.end) || isPast(end, now))
    refuseField('/changes/end', 'not_later', 'Choose an end that is later than the present one, and to come.');
  if (Date.parse(campaign.end) <= Date.parse(lineItem.window.end) || isPast(campaign.end, now))
    refuseField('/changes/end', 'outside_campaign', `The campaign ends on ${campaign.end}. Revise its window first.`);
  checkLength({ start: lineItem.window.start, end }, '/changes/end');
  return { ...lineItem, window: { ...lineItem.window, end }, extension_cause: extensionCause };
}

/** The line item as a draft again. */
export const reset = (lineItem: Readonly<LineItem>): LineItem => unreserved(lineItem);
