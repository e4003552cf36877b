import type { Attributes, ChangesOf } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { refuseField } from '../../workspace/refuse-field.ts';

export type LineItem = Attributes<'line_items'>;
type Amendment = Omit<ChangesOf<'line_item.amend'>, 'effective_at'>;
type FlightState = NonNullable<LineItem['paused_from']>;

/** Half-open. */
export interface Window {
  readonly start: string;
  readonly end: string;
}

const notNow = (detail: string) => new Problem('state_not_allowed', detail);
const isPast = (instant: string, now: Date) => Date.parse(instant) <= now.getTime();

/** Which goals each type is bought by. */
const unitsOf: Readonly<Record<LineItem['type'], readonly LineItem['goal']['unit'][]>> = {
  exclusive: ['unlimited'],
  sponsorship: ['share_pct'],
  guaranteed: ['impressions', 'completes'],
  non_guaranteed: ['impressions', 'completes', 'unlimited'],
  house: ['impressions', 'completes', 'unlimited'],
};

/** Goals that delivered ads are counted against. */
export const countedUnits: readonly string[] = ['impressions', 'completes'];

/** Throws `validation_failed` for a combination that no field shows by itself. */
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

/** Throws `validation_failed` for a price that decisions cannot compare: what is not guaranteed competes by its price of a thousand. */
export function checkRate({ type, rate }: Pick<LineItem, 'type' | 'rate'>): void {
  if (type === 'non_guaranteed' && !['cpm', 'none'].includes(rate.model))
    refuseField('/changes/rate/model', 'wrong_model', 'A line item that is not guaranteed competes by its CPM.');
}

/**
 * Throws `validation_failed` for a window that has nothing in common with its campaign's: no ad would ever come of it. What lies beyond
 * the campaign is cut off when a plan is compiled.
 */
export function checkWindow(window: Window, campaign: Window): void {
  if (Date.parse(window.start) < Date.parse(campaign.end) && Date.parse(campaign.start) < Date.parse(window.end))
    return;
  refuseField(
    '/changes/window',
    'outside_campaign',
    `The campaign lasts from ${campaign.start} to ${campaign.end}. Choose a window in it.`,
  );
}

/** Throws `validation_failed` for a window that is over: what is under way is stopped, not amended into the past. */
export function checkOpen({ end }: Window, now: Date): void {
  if (isPast(end, now))
    refuseField('/changes/window/end', 'not_future', 'Choose an end to come, or stop the line item.');
}

/** Whether ads delivered so far leave a counted goal open; a goal that is not counted is never reached, and never missed. */
const isGoalUnmet = ({ goal }: Pick<LineItem, 'goal'>, delivered: number): boolean =>
  countedUnits.includes(goal.unit) && delivered < goal.quantity!;

function without<K extends keyof LineItem>(lineItem: Readonly<LineItem>, ...names: readonly K[]): LineItem {
  const kept: Partial<LineItem> = { ...lineItem };
  for (const name of names) delete kept[name];
  return kept as LineItem;
}

/** With the changes of an amendment that holds now. */
export function amended(
  lineItem: Readonly<LineItem>,
  { goal, window, rate, pacing, targeting, frequency_caps }: Amendment,
) {
  const next: LineItem = {
    ...lineItem,
    ...(goal && { goal }),
    ...(window && { window }),
    ...(rate && { rate }),
    ...(pacing && { pacing }),
    ...(targeting && { targeting }),
    ...(frequency_caps && { frequency_caps }),
  };
  checkLineItem(next);
  return next;
}

/** With the amendment whose time has come. Throws `state_not_allowed` when there is none. */
export function withDueAmendment(lineItem: Readonly<LineItem>, now: Date): LineItem {
  const { amendment } = lineItem;
  if (!amendment || !isPast(amendment.effective_at, now)) throw notNow('No amendment is due.');
  return amended(without(lineItem, 'amendment'), amendment);
}

/** Held for a customer until a time to come. */
export function reserved(lineItem: Readonly<LineItem>, expiresAt: string, now: Date): LineItem {
  if (isPast(expiresAt, now)) refuseField('/changes/expires_at', 'not_future', 'Choose a time to come.');
  return { ...lineItem, reserved_until: expiresAt };
}

/** No longer held. */
export const unreserved = (lineItem: Readonly<LineItem>): LineItem => without(lineItem, 'reserved_until');

/** No longer held, because its time is over. Throws `state_not_allowed` before. */
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
 * Where a flight goes whose time is over. Throws `state_not_allowed` while it is not.
 * @param delivered ads counted so far; undefined when nobody was asked, because it does not matter
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

/** Ended because its goal is reached. Throws `state_not_allowed` when it is not. */
export function completed(lineItem: Readonly<LineItem>, delivered: number): LineItem {
  if (!countedUnits.includes(lineItem.goal.unit) || isGoalUnmet(lineItem, delivered))
    throw notNow('The goal is not reached yet.');
  return { ...without(lineItem, 'amendment'), delivered };
}

/** Paused; it remembers where it was. */
export const paused = (lineItem: Readonly<LineItem>, state: string): LineItem => ({
  ...lineItem,
  paused_from: state as FlightState,
});

/** Where a pause ends. Throws `state_not_allowed` when the time of the flight is over. */
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

/** Whether a flight has begun that is not under way: by the clock, or because something of it was delivered already. */
const hasBegun = ({ paused_from: from, window }: Readonly<LineItem>, { state, delivered, now }: EndedEarly): boolean =>
  delivered > 0 || (state === 'paused' && (from !== 'booked' || isPast(window.start, now)));

/** Ended early. Throws `state_not_allowed` for one that was paused before it began: that is cancelled. */
export function stopped(lineItem: Readonly<LineItem>, at: EndedEarly): LineItem {
  if (at.state === 'paused' && !hasBegun(lineItem, at))
    throw notNow('The flight has not begun. Cancel the line item instead.');
  return without(lineItem, 'paused_from', 'amendment');
}

/** Ended before it delivered anything. Throws `state_not_allowed` for one that has. */
export function cancelled(lineItem: Readonly<LineItem>, at: EndedEarly): LineItem {
  if (hasBegun(lineItem, at)) throw notNow('The flight has begun. Stop the line item instead.');
  return without(lineItem, 'paused_from', 'amendment', 'reserved_until');
}

/** With a later end. Throws `validation_failed` when it is none, or the campaign does not last longer than the line item anyway. */
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
  return { ...lineItem, window: { ...lineItem.window, end }, extension_cause: extensionCause };
}

/** A new draft of an earlier promise. */
export const reset = (lineItem: Readonly<LineItem>): LineItem => unreserved(lineItem);
