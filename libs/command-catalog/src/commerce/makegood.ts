import { commerceRoles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import {
  cause,
  foundProblem,
  instant,
  leaseReason,
  money,
  reference,
  shortText,
  stateReason,
  timeWindow,
} from '../fields.ts';

const amount = z.int().min(0);
const units = z.int().min(1).max(1_000_000_000_000);

/** What of the line item that makes good is proposed; the rest is that of the line item that fell short. */
const proposedLine = {
  /** Absent: the same campaign. */
  campaign_id: reference('cmp').optional(),
  window: timeWindow.optional(),
  name: shortText.optional(),
};

/** What the ledger said of a line item with a goal when it was asked. */
const delivery = z.strictObject({
  measured_at: instant,
  goal: amount,
  /** Servings that reached its counting basis, each once. */
  confirmed: amount,
  /** Units that closed reconciliations have added or taken away. */
  adjusted: z.int(),
});

const proposal = {
  for_line_item: reference('li'),
  units,
};

/** Makegoods: units that an advertiser gets without a charge for those that a line item fell short of. */
export const makegoods = defineResource({
  type: 'makegoods',
  noun: 'makegood',
  prefix: 'mkg',
  attributes: z.strictObject({
    ...proposal,
    reason: z.string().optional(),
    proposed_line: z.strictObject(proposedLine).optional(),
    delivery,
    /** What the units would have cost; absent where the line item is not sold by units. */
    value: money.optional(),
    requested_by: z.string(),
    /** The line item that makes good. */
    line_item_id: reference('li').optional(),
    /** Its confirmed units when the makegood ended. */
    confirmed: amount.optional(),
    problem: foundProblem.optional(),
    state_reason: stateReason,
  }),
  states: ['proposed', 'accepted', 'declined', 'scheduled', 'fulfilled', 'expired'],
  terminalStates: ['declined', 'fulfilled', 'expired'],
  links: {
    for_line_item: { attribute: 'for_line_item', type: 'line_items' },
    line_item: { attribute: 'line_item_id', type: 'line_items' },
  },
  readers: commerceRoles,
  uniqueAttributes: [],
});

const base = { subject: 'makegoods', hasRule: true } as const;
const sellers = ['sales', 'admin'] as const;
const traffickers = ['trafficker', 'admin'] as const;
const reviewers = ['reviewer', 'finance', 'admin'] as const;

export const makegoodCommands = {
  'makegood.propose': defineCommand({
    ...base,
    type: 'makegood.propose',
    to: 'proposed',
    changes: z.strictObject({
      ...proposal,
      reason: z.string().trim().min(1).max(1000).optional(),
      proposed_line: z.strictObject(proposedLine).optional(),
    }),
    roles: ['trafficker', 'sales', 'admin'],
    event: 'makegood.proposed',
    problems: ['validation_failed', 'link_not_found', 'state_not_allowed', 'temporarily_unavailable'],
    summary:
      'Proposes units for a completed or stopped line item that fell short of its goal by more than 5 per cent. A line item has one open makegood at most.',
  }),
  'makegood.draft': defineCommand({
    ...base,
    type: 'makegood.draft',
    to: 'proposed',
    changes: z.strictObject({ for_line_item: proposal.for_line_item, delivery }),
    machines: ['management'],
    event: 'makegood.drafted',
    problems: ['validation_failed', 'link_not_found', 'state_not_allowed'],
    summary: 'The clock proposes a makegood, seven days after a line item ended that far below its goal.',
  }),
  'makegood.accept': defineCommand({
    ...base,
    type: 'makegood.accept',
    from: ['proposed'],
    to: 'accepted',
    changes: z.strictObject({}),
    roles: sellers,
    review: 'single',
    reviewers,
    versionGuard: 'required',
    event: 'makegood.accepted',
    problems: ['validation_failed', 'state_not_allowed', 'temporarily_unavailable'],
    summary: 'Accepts a makegood: its units and their value are fixed. Refused when they exceed what is missing now.',
  }),
  'makegood.decline': defineCommand({
    ...base,
    hasRule: false,
    type: 'makegood.decline',
    from: ['proposed'],
    to: 'declined',
    changes: z.strictObject({ cause }),
    roles: sellers,
    review: 'single',
    reviewers,
    event: 'makegood.declined',
    summary: 'Declines a makegood; another one can be proposed.',
  }),
  'makegood.schedule': defineCommand({
    ...base,
    type: 'makegood.schedule',
    from: ['accepted'],
    to: 'scheduled',
    /** What is absent is that of the proposal; a window must stand in one of them. */
    changes: z.strictObject(proposedLine),
    roles: traffickers,
    mode: 'async',
    review: 'policy',
    versionGuard: 'required',
    event: 'makegood.scheduled',
    problems: ['validation_failed', 'link_not_found', 'state_not_allowed'],
    externalEffect:
      'A draft of a line item without a price is created; it is assigned creatives and booked as any other.',
    summary: 'Creates the line item that makes good, with the settings of the one that fell short.',
  }),
  'makegood.record_line_item': defineCommand({
    ...base,
    type: 'makegood.record_line_item',
    from: ['scheduled'],
    changes: z.strictObject({ line_item_id: reference('li') }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'succeeded',
    event: 'makegood.line_item_recorded',
    problems: ['lease_lost'],
    summary: 'The line item that makes good is there.',
  }),
  'makegood.fail_schedule': defineCommand({
    ...base,
    type: 'makegood.fail_schedule',
    from: ['scheduled'],
    to: 'accepted',
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'failed',
    event: 'makegood.schedule_failed',
    problems: ['lease_lost'],
    summary: 'The line item could not be created; records why. The makegood can be scheduled again.',
  }),
  'makegood.fulfil': defineCommand({
    ...base,
    type: 'makegood.fulfil',
    from: ['scheduled'],
    to: 'fulfilled',
    changes: z.strictObject({ confirmed: amount }),
    machines: ['management'],
    event: 'makegood.fulfilled',
    problems: ['state_not_allowed'],
    summary: 'The clock ends a makegood whose line item has delivered its units.',
  }),
  'makegood.expire': defineCommand({
    ...base,
    type: 'makegood.expire',
    from: ['scheduled'],
    to: 'expired',
    changes: z.strictObject({ confirmed: amount }),
    machines: ['management'],
    event: 'makegood.expired',
    problems: ['state_not_allowed'],
    summary:
      'The clock ends a makegood whose line item was cancelled, or whose window ended below its units seven days ago.',
  }),
} as const;
