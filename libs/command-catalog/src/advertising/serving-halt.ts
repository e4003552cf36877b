import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, reference, stateReason } from '../fields.ts';

const scope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('workspace') }),
  z.strictObject({ kind: z.literal('show'), podcast_id: reference('pod') }),
  z.strictObject({ kind: z.literal('line_item'), line_item_id: reference('li') }),
  z.strictObject({ kind: z.literal('creative'), creative_id: reference('crv') }),
  z.strictObject({ kind: z.literal('surface'), surface: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/) }),
]);

/** Serving halts: advertising that must not run, whatever the plans say, until the halt is released. */
export const servingHalts = defineResource({
  type: 'serving_halts',
  noun: 'serving_halt',
  commandNoun: 'serving',
  prefix: 'hlt',
  attributes: z.strictObject({ scope, cause, state_reason: stateReason }),
  states: ['active', 'released'],
  terminalStates: ['released'],
  links: {},
  uniqueAttributes: [],
});

export const servingHaltCommands = {
  'serving.halt': defineCommand({
    type: 'serving.halt',
    subject: 'serving_halts',
    to: 'active',
    changes: z.strictObject({ scope, cause }),
    roles: ['trafficker', 'reviewer', 'publisher', 'admin'],
    whileSuspended: 'accepted',
    event: 'serving.halted',
    hasRule: true,
    problems: ['link_not_found'],
    externalEffect: 'Within 5 s, ad decisions no longer choose ads that the halt covers.',
    summary: 'Stops advertising at once: everywhere, in one podcast, for one line item or creative, or on one surface.',
  }),
  'serving.release': defineCommand({
    type: 'serving.release',
    subject: 'serving_halts',
    from: ['active'],
    to: 'released',
    changes: z.strictObject({ cause }),
    roles: ['admin'],
    versionGuard: 'required',
    review: 'single',
    reviewers: ['reviewer', 'publisher', 'admin'],
    event: 'serving.released',
    externalEffect: 'Within seconds, ad decisions can choose it again.',
    summary: 'Ends a halt.',
  }),
} as const;
