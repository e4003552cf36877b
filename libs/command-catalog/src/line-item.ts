import { z } from 'zod';
import { defineCommand, defineResource } from './definition.ts';
import { money, reference, shortText, timeWindow } from './fields.ts';

const settings = {
  campaign_id: reference('cmp'),
  name: shortText,
  type: z.enum(['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house']),
  priority: z.int().min(1).max(10),
  window: timeWindow,
  goal: z
    .strictObject({ unit: z.enum(['impressions', 'unlimited']), quantity: z.int().min(1).optional() })
    .refine((goal) => (goal.unit === 'impressions') === (goal.quantity !== undefined), {
      message: 'Give a quantity for impressions, and none for unlimited.',
    }),
  rate: z
    .strictObject({ model: z.enum(['cpm', 'flat', 'none']), price: money.optional() })
    .refine((rate) => (rate.model === 'none') === (rate.price === undefined), {
      message: 'Give a price for cpm and flat, and none for none.',
    }),
  break_positions: z.array(z.enum(['pre', 'mid', 'post'])).min(1),
  /** Include lists; an empty list means any. */
  targeting: z.strictObject({
    podcasts: z.array(reference('pod')).max(1000),
    episodes: z.array(reference('ep')).max(1000),
    countries: z.array(z.string().regex(/^[A-Z]{2}$/)).max(250),
  }),
};

/** Line items: what is bought, when, where and how often (a podcast "flight"). */
export const lineItems = defineResource({
  type: 'line_items',
  noun: 'line_item',
  prefix: 'li',
  attributes: z.strictObject(settings),
  states: [
    'draft',
    'pending_review',
    'declined',
    'approved',
    'reserved',
    'reservation_expired',
    'booked',
    'delivering',
    'delivery_extended',
    'paused',
    'completed',
    'stopped',
    'cancelled',
    'archived',
  ],
  terminalStates: ['archived'],
  links: { campaign: { attribute: 'campaign_id', type: 'campaigns' } },
  uniqueAttributes: [],
});

export const lineItemCommands = {
  'line_item.create': defineCommand({
    type: 'line_item.create',
    subject: 'line_items',
    to: 'draft',
    changes: z.strictObject({
      ...settings,
      priority: settings.priority.default(5),
      targeting: settings.targeting.default({ podcasts: [], episodes: [], countries: [] }),
    }),
    roles: ['trafficker', 'sales', 'admin'],
    event: 'line_item.created',
    summary: 'Creates a line item of a campaign.',
  }),
  'line_item.submit': defineCommand({
    type: 'line_item.submit',
    subject: 'line_items',
    from: ['draft', 'declined', 'reservation_expired'],
    to: 'approved',
    changes: z.strictObject({}),
    roles: ['trafficker', 'sales', 'admin'],
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.approved',
    ruled: true,
    problems: ['line_item_not_bookable'],
    summary: 'Submits a line item; without a review policy it is approved at once.',
  }),
  'line_item.book': defineCommand({
    type: 'line_item.book',
    subject: 'line_items',
    from: ['approved', 'reserved'],
    to: 'booked',
    changes: z.strictObject({}),
    roles: ['trafficker', 'sales', 'admin'],
    review: 'policy',
    versionGuard: 'required',
    event: 'line_item.booked',
    ruled: true,
    problems: ['line_item_not_bookable'],
    summary: 'Books an approved line item; the next serving plan contains it.',
  }),
} as const;
