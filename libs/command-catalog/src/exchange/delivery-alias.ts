import { schemas } from '@longwave/exchange-messages';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { stateReason } from '../fields.ts';
import { messageSource } from './message-source.ts';

/** Delivery aliases: stable public addresses of a platform's choosing. Each message about an alias is a version of its resource. */
export const deliveryAliases = defineResource({
  type: 'delivery_aliases',
  noun: 'delivery_alias',
  prefix: 'dal',
  attributes: z.strictObject({
    ...messageSource,
    ...schemas['delivery-alias/1'].shape,
    /** `<host>/<path_slug>`: no two aliases share it. */
    address: z.string().min(3).max(184),
    state_reason: stateReason,
  }),
  states: ['active', 'paused', 'retired'],
  // A retired address is never used again: it keeps its unique value.
  terminalStates: [],
  links: { message_authority: { attribute: 'authority_id', type: 'authority_grants' } },
  uniqueAttributes: ['address'],
});

const changes = z.strictObject({ ...messageSource, alias: schemas['delivery-alias/1'] });
const states = ['active', 'paused', 'retired'] as const;

export const deliveryAliasCommands = {
  'delivery_alias.register': defineCommand({
    type: 'delivery_alias.register',
    subject: 'delivery_aliases',
    to: states,
    changes,
    machines: ['hosting-exchange'],
    event: 'delivery_alias.registered',
    hasRule: true,
    problems: [
      'key_revoked',
      'state_not_allowed',
      'validation_failed',
      'value_taken',
      'capability_not_supported',
      // The authority has 10,000 aliases that are not retired.
      'policy_rejected',
    ],
    externalEffect: 'The address answers within 5 s.',
    summary: 'Registers a stable public address for an episode that another platform hosts.',
  }),
  'delivery_alias.revise': defineCommand({
    type: 'delivery_alias.revise',
    subject: 'delivery_aliases',
    from: ['active', 'paused'],
    to: states,
    changes,
    machines: ['hosting-exchange'],
    whileSuspended: 'accepted',
    event: 'delivery_alias.revised',
    hasRule: true,
    problems: ['key_revoked', 'state_not_allowed', 'validation_failed', 'capability_not_supported'],
    externalEffect: 'Within 5 s the address follows the new version; a retired one answers 410 for ever.',
    summary: 'Changes the target, the route or the state of an address; the address itself never changes.',
  }),
} as const;
