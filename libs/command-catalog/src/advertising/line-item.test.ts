import { expect, test } from '@jest/globals';
import { forecastCommands } from '../commerce/forecast.ts';
import { lineItemCommands } from './line-item-commands.ts';
import { lineItems } from './line-item.ts';

const flights = ['booked', 'delivering', 'delivery_extended', 'paused'];

/** Command → [from, to], written out a second time so that no change of a transition passes unseen; null: the state stays. */
const expected: Readonly<Record<string, readonly [readonly string[] | null, readonly string[] | null]>> = {
  'line_item.create': [null, ['draft']],
  'line_item.revise': [['draft'], null],
  'line_item.amend': [flights, null],
  'line_item.apply_amendment': [flights, null],
  'line_item.submit': [['draft', 'declined', 'reservation_expired'], ['approved']],
  'line_item.reserve': [['approved'], ['reserved']],
  'line_item.release_reservation': [['reserved'], ['approved']],
  'line_item.expire_reservation': [['reserved'], ['reservation_expired']],
  'line_item.book': [['approved', 'reserved'], ['booked']],
  'line_item.start_flight': [['booked'], ['delivering']],
  'line_item.end_flight': [
    ['delivering', 'delivery_extended'],
    ['completed', 'delivery_extended'],
  ],
  'line_item.complete': [['delivering', 'delivery_extended'], ['completed']],
  'line_item.pause': [['booked', 'delivering', 'delivery_extended'], ['paused']],
  'line_item.resume': [['paused'], ['booked', 'delivering', 'delivery_extended']],
  'line_item.extend': [flights, null],
  'line_item.set_priority': [['booked', 'delivering', 'paused'], null],
  'line_item.set_external_ids': [['approved', 'reserved', ...flights, 'completed', 'stopped'], null],
  'line_item.stop': [['delivering', 'delivery_extended', 'paused'], ['stopped']],
  'line_item.cancel': [
    ['draft', 'pending_review', 'declined', 'approved', 'reserved', 'reservation_expired', 'booked', 'paused'],
    ['cancelled'],
  ],
  'line_item.reset': [['declined', 'reserved', 'reservation_expired', 'approved'], ['draft']],
  'line_item.archive': [['completed', 'stopped', 'cancelled'], ['archived']],
};

test('line items change state by these commands between these states, and in no other way', () => {
  const declared = Object.values(lineItemCommands).map(({ type, from, to }) => [
    type,
    [from, typeof to === 'string' ? [to] : to],
  ]);
  expect(Object.fromEntries(declared)).toEqual(expected);
});

test('every state of a line item, except those of a review, is entered by some command', () => {
  const entered = Object.values(expected).flatMap(([, to]) => to ?? []);
  expect(lineItems.states.filter((state) => !entered.includes(state))).toEqual(['pending_review', 'declined']);
});

test('a line item and a forecast name each position of a break once; one that was stored with more is still read', () => {
  const often = Array<string>(20_000).fill('pre');
  const refusals = [
    lineItemCommands['line_item.create'].changes.shape.break_positions,
    lineItemCommands['line_item.revise'].changes.shape.break_positions,
    forecastCommands['forecast.request'].changes.shape.prospective.unwrap().shape.break_positions,
  ].map((positions) => [often, ['pre', 'pre'], ['post', 'pre', 'mid']].map((all) => positions.safeParse(all).success));
  expect(refusals).toEqual(Array(3).fill([false, false, true]));
  expect(lineItems.attributes.shape.break_positions.safeParse(['pre', 'pre', 'mid', 'pre']).success).toBe(true);
});
