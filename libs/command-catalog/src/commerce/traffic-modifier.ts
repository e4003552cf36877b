import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, reference, shortText, stateReason, timeWindow } from '../fields.ts';

/** The podcasts whose traffic it changes. */
const scope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('workspace') }),
  z.strictObject({ kind: z.literal('podcasts'), podcast_ids: z.array(reference('pod')).min(1).max(1000) }),
]);

const settings = {
  name: shortText,
  window: timeWindow,
  /** Opportunities with it, divided by those without: 1.2 is a fifth more. */
  factor: z.number().min(0.01).max(100),
  scope,
};

/** Traffic modifiers: what people know of coming traffic and facts of the past do not tell (docs/forecasting.md). */
export const trafficModifiers = defineResource({
  type: 'traffic_modifiers',
  noun: 'traffic_modifier',
  prefix: 'tmf',
  attributes: z.strictObject({ ...settings, state_reason: stateReason }),
  states: ['active', 'retired'],
  terminalStates: ['retired'],
  links: {},
  uniqueAttributes: [],
});

const base = { subject: 'traffic_modifiers', roles: ['trafficker', 'sales', 'admin'] } as const;

export const trafficModifierCommands = {
  'traffic_modifier.create': defineCommand({
    ...base,
    type: 'traffic_modifier.create',
    to: 'active',
    changes: z.strictObject(settings),
    event: 'traffic_modifier.created',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    externalEffect: 'Forecasts that begin from now on multiply the traffic of its window, and name it.',
    summary: 'Says that the traffic of some podcasts, or of all, will be more or less than the past tells.',
  }),
  'traffic_modifier.revise': defineCommand({
    ...base,
    type: 'traffic_modifier.revise',
    from: ['active'],
    changes: z.strictObject(settings).partial(),
    versionGuard: 'required',
    event: 'traffic_modifier.revised',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    externalEffect: 'Forecasts that begin from now on use the new values.',
    summary: 'Changes a traffic modifier; forecasts that were made keep what they were made with.',
  }),
  'traffic_modifier.retire': defineCommand({
    ...base,
    type: 'traffic_modifier.retire',
    from: ['active'],
    to: 'retired',
    changes: z.strictObject({ cause }),
    event: 'traffic_modifier.retired',
    externalEffect: 'Forecasts that begin from now on leave it out.',
    summary: 'Ends a traffic modifier.',
  }),
} as const;
