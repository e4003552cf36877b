import { schemas } from '@longwave/exchange-messages';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { stateReason } from '../fields.ts';
import { messageSource } from './message-source.ts';

/** Surface capabilities: what the player of a platform can do. Each message about a surface is a version of its resource. */
export const surfaceCapabilities = defineResource({
  type: 'surface_capabilities',
  noun: 'surface_capability',
  prefix: 'sfc',
  attributes: z.strictObject({
    ...messageSource,
    capability: schemas['surface-capability/1'],
    state_reason: stateReason,
  }),
  states: ['current', 'lapsed'],
  terminalStates: [],
  links: { message_authority: { attribute: 'authority_id', type: 'authority_grants' } },
  uniqueAttributes: [],
});

const changes = z.strictObject({ ...messageSource, capability: schemas['surface-capability/1'] });

export const surfaceCapabilityCommands = {
  'surface_capability.declare': defineCommand({
    type: 'surface_capability.declare',
    subject: 'surface_capabilities',
    to: 'current',
    changes,
    machines: ['hosting-exchange'],
    event: 'surface_capability.declared',
    hasRule: true,
    problems: ['key_revoked', 'state_not_allowed', 'value_taken'],
    summary: 'A platform says for the first time what one of its surfaces can do.',
  }),
  'surface_capability.revise': defineCommand({
    type: 'surface_capability.revise',
    subject: 'surface_capabilities',
    from: ['current', 'lapsed'],
    to: 'current',
    changes,
    machines: ['hosting-exchange'],
    event: 'surface_capability.revised',
    hasRule: true,
    problems: ['key_revoked', 'state_not_allowed', 'validation_failed'],
    externalEffect: 'Routes of the surface follow what it can do now.',
    summary: 'A platform says anew what a surface can do; earlier versions stay readable.',
  }),
  'surface_capability.lapse': defineCommand({
    type: 'surface_capability.lapse',
    subject: 'surface_capabilities',
    from: ['current'],
    to: 'lapsed',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'surface_capability.lapsed',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'No alias is activated for it.',
    summary: 'The time until which the platform vouched for it is over.',
  }),
} as const;
