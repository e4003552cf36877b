import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, reference, shortText, stateReason } from '../fields.ts';
import { adPosition } from './placement.ts';

const days = z.int().min(1).max(1000);

const settings = {
  name: shortText,
  /** The inventory that it sells; an empty list means the whole workspace. */
  inventory_unit_ids: z.array(reference('inv')).max(1000),
  positions: z.array(adPosition).min(1).max(3),
  /** guaranteed: exclusive, sponsorship and guaranteed line items. */
  delivery: z.enum(['guaranteed', 'non_guaranteed']),
  rate_card_id: reference('rtc'),
  /** Length of the flights, in days of 24 h. */
  min_flight_days: days.optional(),
  max_flight_days: days.optional(),
};

/** Products: what is sold, with its inventory, positions and prices. */
export const products = defineResource({
  type: 'products',
  noun: 'product',
  prefix: 'prd',
  attributes: z.strictObject({ ...settings, state_reason: stateReason }),
  states: ['draft', 'published', 'withdrawn'],
  terminalStates: ['withdrawn'],
  links: { rate_card: { attribute: 'rate_card_id', type: 'rate_cards' } },
  uniqueAttributes: [],
});

const roles = ['sales', 'admin'] as const;

export const productCommands = {
  'product.create': defineCommand({
    type: 'product.create',
    subject: 'products',
    to: 'draft',
    changes: z.strictObject({ ...settings, inventory_unit_ids: settings.inventory_unit_ids.default([]) }),
    roles,
    event: 'product.created',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Creates a product that sells some inventory by a rate card.',
  }),
  'product.revise': defineCommand({
    type: 'product.revise',
    subject: 'products',
    from: ['draft'],
    changes: z.strictObject(settings).partial(),
    roles,
    versionGuard: 'required',
    event: 'product.revised',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Changes a draft.',
  }),
  'product.publish': defineCommand({
    type: 'product.publish',
    subject: 'products',
    from: ['draft'],
    to: 'published',
    changes: z.strictObject({}),
    roles,
    review: 'single',
    reviewers: ['reviewer', 'finance', 'admin'],
    versionGuard: 'required',
    event: 'product.published',
    hasRule: true,
    problems: ['link_not_found'],
    summary: 'Publishes a product: line items can be submitted and booked under it.',
  }),
  'product.withdraw': defineCommand({
    type: 'product.withdraw',
    subject: 'products',
    from: ['draft', 'published'],
    to: 'withdrawn',
    changes: z.strictObject({ cause }),
    roles,
    versionGuard: 'required',
    event: 'product.withdrawn',
    summary: 'Withdraws a product; what is booked stays booked.',
  }),
} as const;
