import { z } from 'zod';
import { instant, reference, shortText, stateReason, timeWindow, unitPrice } from '../fields.ts';
import { defineResource } from '../definition.ts';
import { externalIds } from './external-ids.ts';
import { adPosition, countingBasis } from './placement.ts';
import { storedTargeting, targeting } from './targeting.ts';

const goal = z
  .strictObject({
    unit: z.enum(['impressions', 'completes', 'share_pct', 'unlimited']),
    /** Servings in its counting basis, or per cent of the breaks that it may serve in. */
    quantity: z.int().min(1).max(1_000_000_000_000).optional(),
    daily_min: z.int().min(1).optional(),
    daily_max: z.int().min(1).optional(),
  })
  .refine((it) => (it.unit !== 'unlimited') === (it.quantity !== undefined), {
    message: 'Give a quantity, but none for an unlimited goal.',
    path: ['quantity'],
  })
  .refine((it) => it.unit !== 'share_pct' || (it.quantity ?? 0) <= 100, {
    message: 'A share is at most 100 per cent.',
    path: ['quantity'],
  })
  .refine((it) => it.daily_max === undefined || (it.daily_min ?? 1) <= it.daily_max, {
    message: 'daily_max is below daily_min.',
    path: ['daily_max'],
  });

const rate = z
  .strictObject({ model: z.enum(['cpm', 'cpcv', 'flat', 'cpd', 'none']), price: unitPrice.optional() })
  .refine((it) => (it.model === 'none') === (it.price === undefined), {
    message: 'Give a price, but none for the model “none”.',
    path: ['price'],
  });

const pacing = z.strictObject({
  mode: z.enum(['even', 'front_loaded', 'asap']).default('even'),
  /** How far delivery may exceed its plan to catch up. */
  velocity: z.number().min(1).max(2).default(1),
  /** Per cent of the window, at its end, without planned delivery. */
  finish_early_pct: z.number().min(0).max(20).default(0),
});

const frequencyCap = z.strictObject({
  max: z.int().min(1).max(1000),
  per: z.enum(['listener_bucket', 'episode', 'break']),
  window_seconds: z
    .int()
    .min(1)
    .max(90 * 86_400),
});

const weight = z.int().min(1).max(1000);

/** The settings of a line item, beside its campaign. */
export const lineItemSettings = {
  name: shortText,
  type: z.enum(['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house']),
  priority: z.int().min(1).max(10),
  window: timeWindow,
  goal,
  rate,
  pacing,
  targeting,
  break_positions: z
    .array(adPosition)
    .min(1)
    .max(3)
    .refine((all) => new Set(all).size === all.length, { error: 'Name each position once.' }),
  frequency_caps: z.array(frequencyCap).max(10),
  creative_rotation: z.enum(['weighted', 'sequential']),
  /** The billed events: decisions, bytes sent, ads delivered (docs/counting.md), or a client's reports. */
  counting_basis: countingBasis,
  /** Weight of an exclusive or house line item among its equals. */
  weight,
  /** Goes on after its window until the goal is reached, within the campaign's window. */
  auto_extend: z.boolean(),
  /** The product under which it is sold: submitting and booking check its inventory, positions, length and prices. */
  product_id: reference('prd').optional(),
  /** The line item whose shortfall this one makes good. */
  makegood_of: reference('li').optional(),
  /** Ids of the line item in other systems, by which reconciliations find it. */
  external_ids: externalIds.optional(),
};

const { targeting: _targeting, ...plain } = lineItemSettings;

/** The same with the defaults of a new line item. */
export const newLineItem = {
  ...lineItemSettings,
  priority: lineItemSettings.priority.default(5),
  pacing: pacing.prefault({}),
  targeting: targeting.prefault({}),
  frequency_caps: lineItemSettings.frequency_caps.default([]),
  creative_rotation: lineItemSettings.creative_rotation.default('weighted'),
  counting_basis: lineItemSettings.counting_basis.default('ad_delivered'),
  weight: weight.default(1),
  auto_extend: lineItemSettings.auto_extend.default(false),
};

/** Fields that an amendment may change. */
export const amendable = {
  goal: goal.optional(),
  window: timeWindow.optional(),
  rate: rate.optional(),
  pacing: pacing.optional(),
  targeting: targeting.optional(),
  frequency_caps: lineItemSettings.frequency_caps.optional(),
  external_ids: lineItemSettings.external_ids,
};

/** States in which a line item serves or is paused. */
export const flightStates = ['booked', 'delivering', 'delivery_extended', 'paused'] as const;

/** Line items: the bought ads with their time, targeting and goal. */
export const lineItems = defineResource({
  type: 'line_items',
  noun: 'line_item',
  prefix: 'li',
  attributes: z.strictObject({
    campaign_id: reference('cmp'),
    ...plain,
    /** Earlier releases took a position more than once. */
    break_positions: z.array(adPosition).min(1),
    pacing: newLineItem.pacing,
    targeting: storedTargeting,
    frequency_caps: newLineItem.frequency_caps,
    creative_rotation: newLineItem.creative_rotation,
    counting_basis: newLineItem.counting_basis,
    weight: newLineItem.weight,
    auto_extend: newLineItem.auto_extend,
    /** End of the reservation, while reserved. */
    reserved_until: instant.optional(),
    /** State before the pause, while paused. */
    paused_from: z.enum(['booked', 'delivering', 'delivery_extended']).optional(),
    /** What was left for it when it was reserved, booked or amended. */
    availability: z
      .strictObject({
        checked_at: instant,
        capacity: z.int().min(0),
        available: z.int().min(0),
        /** Facts of less than 14 days: nothing was refused. */
        learning: z.literal(true).optional(),
        /** Units that were promised beyond what is left, and who would lose what. */
        overbooked_by: z.int().min(1).optional(),
        /** Of a break of a sponsorship or an exclusive line item: per cent that are promised beyond all of it. */
        overbooked_share_pct: z.int().min(1).optional(),
        contending: z
          .array(z.strictObject({ line_item_id: reference('li'), loses: z.int().min(0), of_goal: z.int().min(0) }))
          .max(50)
          .optional(),
      })
      .optional(),
    /** Accepted changes for a later time. */
    amendment: z.strictObject({ ...amendable, effective_at: instant }).optional(),
    /** Cause of the last extension of the window. */
    extension_cause: z.string().optional(),
    /** Servings that were counted in its basis when the flight ended. */
    delivered: z.int().min(0).optional(),
    state_reason: stateReason,
  }),
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
  links: {
    campaign: { attribute: 'campaign_id', type: 'campaigns' },
    makegood_of: { attribute: 'makegood_of', type: 'line_items' },
    product: { attribute: 'product_id', type: 'products' },
  },
  uniqueAttributes: [],
  sortKeys: {
    window_start: { stable: false, at: ['window', 'start'] },
    window_end: { stable: false, at: ['window', 'end'] },
  },
});
