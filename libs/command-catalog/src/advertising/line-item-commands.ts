import { z } from 'zod';
import { defineCommand } from '../definition.ts';
import { cause, instant, reference } from '../fields.ts';
import { externalIds } from './external-ids.ts';
import { amendable, flightStates, lineItemSettings, newLineItem } from './line-item.ts';

const sellers = ['trafficker', 'sales', 'admin'] as const;
const traffickers = ['trafficker', 'admin'] as const;
/** States before a booking: nothing can have been delivered. */
const unbooked = ['draft', 'pending_review', 'declined', 'approved', 'reserved', 'reservation_expired'] as const;

/** Sells beyond what is left; two others must approve, who see who would lose what. */
const overbooking = { allow_overbook: z.literal(true).optional(), cause: cause.optional() };
const isExplained = ({ allow_overbook: overbooks, cause: why }: { allow_overbook?: true; cause?: string }) =>
  overbooks === undefined || why !== undefined;
const unexplained = { message: 'Say why more is sold than is left.', path: ['cause'] };
/** Sells a guaranteed line item although its price is below a floor; another person must approve. */
const underFloor = { allow_below_floor: z.literal(true).optional() };
const isUnderExplained = ({ allow_below_floor: isUnder, cause: why }: { allow_below_floor?: true; cause?: string }) =>
  isUnder === undefined || why !== undefined;
const unexplainedPrice = { message: 'Say why it is sold for less than the floor.', path: ['cause'] };

/** The commands of line items; their transitions are normative (docs/services/management.md). */
export const lineItemCommands = {
  'line_item.create': defineCommand({
    type: 'line_item.create',
    subject: 'line_items',
    to: 'draft',
    changes: z.strictObject({
      campaign_id: reference('cmp'),
      ...newLineItem,
      /** Absent: that of the workspace's measurement policy, else ad_delivered. */
      counting_basis: lineItemSettings.counting_basis.optional(),
    }),
    roles: sellers,
    machines: ['management'],
    event: 'line_item.created',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Creates a line item of a campaign.',
  }),
  'line_item.revise': defineCommand({
    type: 'line_item.revise',
    subject: 'line_items',
    from: ['draft'],
    changes: z.strictObject(lineItemSettings).partial(),
    roles: sellers,
    versionGuard: 'required',
    event: 'line_item.revised',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Changes a draft; amend a booked line item instead.',
  }),
  'line_item.amend': defineCommand({
    type: 'line_item.amend',
    subject: 'line_items',
    from: flightStates,
    changes: z
      .strictObject({
        ...amendable,
        /** Absent or past: now. */
        effective_at: instant.optional(),
        ...overbooking,
        ...underFloor,
      })
      .refine(
        ({ effective_at: _at, allow_overbook: _overbooks, allow_below_floor: _isUnder, cause: _why, ...changed }) =>
          Object.keys(changed).length > 0,
        {
          message: 'Name at least one change.',
        },
      )
      .refine(isExplained, unexplained)
      .refine(isUnderExplained, unexplainedPrice),
    roles: sellers,
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.amended',
    hasRule: true,
    problems: [
      ...(['validation_failed', 'link_not_found', 'line_item_not_bookable', 'inventory_not_available'] as const),
      'temporarily_unavailable',
    ],
    externalEffect: 'The first serving plan that is compiled after that time contains the change.',
    summary:
      'Changes a booked line item, now or at a later time. Only one amendment can wait: a newer one replaces it. A guaranteed one whose new price or targeting is below a floor needs allow_below_floor, which another person approves.',
  }),
  'line_item.apply_amendment': defineCommand({
    type: 'line_item.apply_amendment',
    subject: 'line_items',
    from: flightStates,
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'line_item.amendment_applied',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'Applies an amendment at its time.',
  }),
  'line_item.submit': defineCommand({
    type: 'line_item.submit',
    subject: 'line_items',
    from: ['draft', 'declined', 'reservation_expired'],
    to: 'approved',
    changes: z.strictObject({}),
    roles: sellers,
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.approved',
    hasRule: true,
    problems: ['line_item_not_bookable', 'policy_rejected'],
    summary: 'Submits a line item; without a review policy it is approved at once.',
  }),
  'line_item.reserve': defineCommand({
    type: 'line_item.reserve',
    subject: 'line_items',
    from: ['approved'],
    to: 'reserved',
    changes: z.strictObject({ expires_at: instant, ...overbooking }).refine(isExplained, unexplained),
    roles: sellers,
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.reserved',
    hasRule: true,
    problems: ['validation_failed', 'inventory_not_available', 'temporarily_unavailable'],
    summary:
      'Reserves an approved line item for a customer until a given time, where as much is left beside everything that is sold.',
  }),
  'line_item.release_reservation': defineCommand({
    type: 'line_item.release_reservation',
    subject: 'line_items',
    from: ['reserved'],
    to: 'approved',
    changes: z.strictObject({}),
    roles: sellers,
    versionGuard: 'required',
    event: 'line_item.reservation_released',
    hasRule: true,
    summary: 'Releases a reservation.',
  }),
  'line_item.expire_reservation': defineCommand({
    type: 'line_item.expire_reservation',
    subject: 'line_items',
    from: ['reserved'],
    to: 'reservation_expired',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'line_item.reservation_expired',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'A reservation expires.',
  }),
  'line_item.book': defineCommand({
    type: 'line_item.book',
    subject: 'line_items',
    from: ['approved', 'reserved'],
    to: 'booked',
    changes: z
      .strictObject({ ...overbooking, ...underFloor })
      .refine(isExplained, unexplained)
      .refine(isUnderExplained, unexplainedPrice),
    roles: sellers,
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.booked',
    hasRule: true,
    problems: ['line_item_not_bookable', 'policy_rejected', 'inventory_not_available', 'temporarily_unavailable'],
    summary:
      'Books an approved line item; the next serving plan contains it. Without a reservation it is checked as one is. A guaranteed one whose price is below a floor needs allow_below_floor, which another person approves.',
  }),
  'line_item.start_flight': defineCommand({
    type: 'line_item.start_flight',
    subject: 'line_items',
    from: ['booked'],
    to: 'delivering',
    changes: z.strictObject({}),
    machines: ['management'],
    whileSuspended: 'refused',
    event: 'line_item.flight_started',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary:
      'Delivery begins: the window has opened, the campaign is active and a published serving plan contains the line item.',
  }),
  'line_item.end_flight': defineCommand({
    type: 'line_item.end_flight',
    subject: 'line_items',
    from: ['delivering', 'delivery_extended'],
    to: ['completed', 'delivery_extended'],
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'line_item.flight_ended',
    hasRule: true,
    problems: ['state_not_allowed', 'temporarily_unavailable'],
    summary:
      'The window has ended: the line item is completed, or continues within the campaign’s window until it reaches its goal.',
  }),
  'line_item.complete': defineCommand({
    type: 'line_item.complete',
    subject: 'line_items',
    from: ['delivering', 'delivery_extended'],
    to: 'completed',
    changes: z.strictObject({ delivered: z.int().min(0) }),
    machines: ['management'],
    event: 'line_item.completed',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'The line item has reached its goal.',
  }),
  'line_item.pause': defineCommand({
    type: 'line_item.pause',
    subject: 'line_items',
    from: ['booked', 'delivering', 'delivery_extended'],
    to: 'paused',
    changes: z.strictObject({ cause }),
    roles: [...traffickers, 'publisher'],
    machines: ['management'],
    versionGuard: 'optional',
    event: 'line_item.paused',
    hasRule: true,
    externalEffect: 'Within seconds, ad decisions no longer choose it.',
    summary: 'Pauses a line item; resuming returns it to the state before the pause.',
  }),
  'line_item.resume': defineCommand({
    type: 'line_item.resume',
    subject: 'line_items',
    from: ['paused'],
    to: ['booked', 'delivering', 'delivery_extended'],
    changes: z.strictObject({ cause }),
    roles: [...traffickers, 'publisher'],
    versionGuard: 'required',
    event: 'line_item.resumed',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect:
      'It serves again within seconds if the current serving plan contains it, otherwise with the next plan.',
    summary: 'Resumes a paused line item; refused when its window has ended.',
  }),
  'line_item.extend': defineCommand({
    type: 'line_item.extend',
    subject: 'line_items',
    from: flightStates,
    changes: z.strictObject({ end: instant, allow_overbook: overbooking.allow_overbook, cause }),
    roles: traffickers,
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.extended',
    hasRule: true,
    problems: [
      ...(['validation_failed', 'line_item_not_bookable', 'inventory_not_available'] as const),
      'temporarily_unavailable',
    ],
    externalEffect: 'The next serving plan contains the later end.',
    summary:
      'Moves the end of a line item to a later time, where its goal is still left beside everything that is sold.',
  }),
  'line_item.set_priority': defineCommand({
    type: 'line_item.set_priority',
    subject: 'line_items',
    from: ['booked', 'delivering', 'paused'],
    changes: z.strictObject({ priority: lineItemSettings.priority, ...overbooking }).refine(isExplained, unexplained),
    roles: traffickers,
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.priority_set',
    hasRule: true,
    problems: ['validation_failed', 'inventory_not_available', 'temporarily_unavailable'],
    externalEffect: 'The next serving plan contains the new priority.',
    summary:
      'Sets the priority of a line item among line items of the same kind. A more urgent one is checked as a booking is: others may not lose by it what they were promised.',
  }),
  'line_item.set_external_ids': defineCommand({
    type: 'line_item.set_external_ids',
    subject: 'line_items',
    from: ['approved', 'reserved', ...flightStates, 'completed', 'stopped'],
    changes: z.strictObject({ external_ids: externalIds }),
    roles: [...sellers, 'finance'],
    versionGuard: 'required',
    event: 'line_item.external_ids_set',
    hasRule: true,
    problems: ['validation_failed'],
    summary:
      'Sets the ids that a line item has in other systems, also after its flight: reconciliations that are matched from now on find it by them. Refused for ids of ours, and for those that another line item has.',
  }),
  'line_item.stop': defineCommand({
    type: 'line_item.stop',
    subject: 'line_items',
    from: ['delivering', 'delivery_extended', 'paused'],
    to: 'stopped',
    changes: z.strictObject({ cause }),
    roles: sellers,
    machines: ['management'],
    review: 'single',
    reviewers: ['reviewer', 'finance', 'admin'],
    event: 'line_item.stopped',
    hasRule: true,
    problems: ['state_not_allowed', 'temporarily_unavailable'],
    externalEffect: 'Within seconds, ad decisions no longer choose it.',
    summary: 'Stops a line item that has begun to deliver.',
  }),
  'line_item.cancel': defineCommand({
    type: 'line_item.cancel',
    subject: 'line_items',
    from: [...unbooked, 'booked', 'paused'],
    to: 'cancelled',
    changes: z.strictObject({ cause }),
    roles: sellers,
    machines: ['management'],
    event: 'line_item.cancelled',
    hasRule: true,
    problems: ['state_not_allowed', 'temporarily_unavailable'],
    summary: 'Cancels a line item that has delivered nothing.',
  }),
  'line_item.reset': defineCommand({
    type: 'line_item.reset',
    subject: 'line_items',
    from: ['declined', 'reserved', 'reservation_expired', 'approved'],
    to: 'draft',
    changes: z.strictObject({ cause }),
    roles: sellers,
    versionGuard: 'required',
    event: 'line_item.reset',
    hasRule: true,
    summary: 'Returns a line item to draft.',
  }),
  'line_item.archive': defineCommand({
    type: 'line_item.archive',
    subject: 'line_items',
    from: ['completed', 'stopped', 'cancelled'],
    to: 'archived',
    changes: z.strictObject({ cause }),
    roles: sellers,
    versionGuard: 'required',
    event: 'line_item.archived',
    hasRule: true,
    problems: ['still_in_use'],
    summary: 'Archives an ended line item, all of whose billing statements are settled or voided.',
  }),
} as const;
