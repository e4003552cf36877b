import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, reference, stateReason, timeWindow } from '../fields.ts';

const weight = z.int().min(1).max(1000);
const positionLimits = z.enum(['any', 'first', 'last']);

const settings = {
  weight: weight.default(1),
  /** Place in a sequential rotation; absent: by the time of assignment. */
  sequence_no: z.int().min(1).max(10_000).optional(),
  window: timeWindow.optional(),
  /** Places in a break that the creative may have. */
  position_limits: positionLimits.default('any'),
};

/** Creative assignments: which creatives a line item rotates. */
export const creativeAssignments = defineResource({
  type: 'creative_assignments',
  noun: 'creative_assignment',
  prefix: 'cas',
  attributes: z.strictObject({
    line_item_id: reference('li'),
    creative_id: reference('crv'),
    ...settings,
    state_reason: stateReason,
  }),
  states: ['draft', 'active', 'paused', 'ended'],
  terminalStates: ['ended'],
  links: {
    line_item: { attribute: 'line_item_id', type: 'line_items' },
    creative: { attribute: 'creative_id', type: 'creatives' },
  },
  uniqueAttributes: [],
});

const roles = ['trafficker', 'admin'] as const;

export const creativeAssignmentCommands = {
  'creative_assignment.create': defineCommand({
    type: 'creative_assignment.create',
    subject: 'creative_assignments',
    to: 'draft',
    changes: z.strictObject({ line_item_id: reference('li'), creative_id: reference('crv'), ...settings }),
    roles,
    machines: ['management'],
    event: 'creative_assignment.created',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found', 'line_item_not_bookable'],
    summary: 'Assigns a creative to a line item of the same advertiser.',
  }),
  'creative_assignment.revise': defineCommand({
    type: 'creative_assignment.revise',
    subject: 'creative_assignments',
    from: ['draft', 'active', 'paused'],
    changes: z.strictObject({ ...settings, weight, position_limits: positionLimits }).partial(),
    roles,
    versionGuard: 'required',
    event: 'creative_assignment.revised',
    summary: 'Changes how an assigned creative rotates.',
  }),
  'creative_assignment.activate': defineCommand({
    type: 'creative_assignment.activate',
    subject: 'creative_assignments',
    from: ['draft', 'paused'],
    to: 'active',
    changes: z.strictObject({}),
    roles,
    machines: ['management'],
    versionGuard: 'required',
    event: 'creative_assignment.activated',
    summary: 'Lets the assigned creative rotate.',
  }),
  'creative_assignment.pause': defineCommand({
    type: 'creative_assignment.pause',
    subject: 'creative_assignments',
    from: ['active'],
    to: 'paused',
    changes: z.strictObject({}),
    roles,
    versionGuard: 'required',
    event: 'creative_assignment.paused',
    summary: 'Takes the creative out of the rotation temporarily.',
  }),
  'creative_assignment.end': defineCommand({
    type: 'creative_assignment.end',
    subject: 'creative_assignments',
    from: ['draft', 'active', 'paused'],
    to: 'ended',
    changes: z.strictObject({ cause }),
    roles,
    machines: ['management'],
    versionGuard: 'required',
    event: 'creative_assignment.ended',
    summary: 'Ends an assignment permanently.',
  }),
} as const;
