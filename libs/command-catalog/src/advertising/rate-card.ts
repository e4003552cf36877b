import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, shortText, stateReason, timeWindow, unitPrice } from '../fields.ts';
import { adPosition, production } from './placement.ts';

/** The price of an ad at one position, of one production, up to one length. */
const entry = z.strictObject({
  position: adPosition,
  production,
  /** The longest ad that it prices. */
  max_duration_ms: z.int().min(1000).max(600_000),
  model: z.enum(['cpm', 'cpcv', 'flat', 'cpd']),
  price: unitPrice.shape.amount_micros,
});

const settings = {
  name: shortText,
  currency: z.string().regex(/^[A-Z]{3}$/),
  entries: z
    .array(entry)
    .min(1)
    .max(500)
    .refine(
      (all) =>
        new Set(all.map((one) => [one.position, one.production, one.max_duration_ms, one.model].join())).size ===
        all.length,
      { message: 'Two entries price the same ads.' },
    ),
  /** Flights that begin in it are priced by the card. */
  valid_window: timeWindow,
};

/** Rate cards: the prices of products (docs/services/management.md). */
export const rateCards = defineResource({
  type: 'rate_cards',
  noun: 'rate_card',
  prefix: 'rtc',
  attributes: z.strictObject({ ...settings, state_reason: stateReason }),
  states: ['draft', 'published', 'withdrawn'],
  terminalStates: ['withdrawn'],
  links: {},
  uniqueAttributes: [],
});

const roles = ['sales', 'finance', 'admin'] as const;

export const rateCardCommands = {
  'rate_card.create': defineCommand({
    type: 'rate_card.create',
    subject: 'rate_cards',
    to: 'draft',
    changes: z.strictObject(settings),
    roles,
    event: 'rate_card.created',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Creates a rate card in the currency of the workspace.',
  }),
  'rate_card.revise': defineCommand({
    type: 'rate_card.revise',
    subject: 'rate_cards',
    from: ['draft'],
    changes: z.strictObject(settings).partial(),
    roles,
    versionGuard: 'required',
    event: 'rate_card.revised',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Changes a draft; publish another rate card to change prices.',
  }),
  'rate_card.publish': defineCommand({
    type: 'rate_card.publish',
    subject: 'rate_cards',
    from: ['draft'],
    to: 'published',
    changes: z.strictObject({}),
    roles,
    review: 'single',
    reviewers: ['reviewer', 'finance', 'admin'],
    versionGuard: 'required',
    event: 'rate_card.published',
    summary: 'Publishes a rate card: line items of its products are booked at its prices or above.',
  }),
  'rate_card.withdraw': defineCommand({
    type: 'rate_card.withdraw',
    subject: 'rate_cards',
    from: ['draft', 'published'],
    to: 'withdrawn',
    changes: z.strictObject({ cause }),
    roles,
    versionGuard: 'required',
    event: 'rate_card.withdrawn',
    summary: 'Withdraws a rate card; what is booked stays booked.',
  }),
} as const;
