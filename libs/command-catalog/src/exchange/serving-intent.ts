import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { instant, reference, sha256, stateReason } from '../fields.ts';

/** What one address of a platform should serve. */
const action = z.strictObject({
  /** The platform's name of the alias. */
  alias: z.string().min(1).max(96),
  source_id: z.string().min(1).max(255),
  /** The source version that serves; absent while none does. */
  source_version: z.int().min(1).optional(),
  /** `stitched`: our audio with decided ads; `clean`: our audio without; `source`: the master of the platform; `none`: nothing. */
  presentation: z.enum(['stitched', 'clean', 'source', 'none']),
  /** SHA-256 of the audio that serves. */
  rendition_sha256: sha256.optional(),
  /** The break plan that holds, by id and version; absent: the markers of the snapshot. */
  break_plan: z.strictObject({ id: reference('brk'), version: z.int().min(1) }).optional(),
  /** The halt that stops its advertising. */
  halt: reference('hlt').optional(),
});

/** Serving intents: what should serve at the addresses of one platform. Each change is a version of its one resource. */
export const servingIntents = defineResource({
  type: 'serving_intents',
  noun: 'serving_intent',
  prefix: 'sin',
  attributes: z.strictObject({
    authority_id: reference('agr'),
    /** Of the serving plan that holds; null without one. */
    plan_digest: z.string().nullable(),
    actions: z.array(action).max(10_000),
    effective_at: instant,
    /** The version before, 0 for the first. */
    supersedes: z.int().min(0),
    state_reason: stateReason,
  }),
  states: ['published'],
  terminalStates: [],
  links: { authority: { attribute: 'authority_id', type: 'authority_grants' } },
  uniqueAttributes: ['authority_id'],
});

const changes = z.strictObject({
  authority_id: reference('agr'),
  plan_digest: z.string().nullable(),
  actions: z.array(action).max(10_000),
});

export const servingIntentCommands = {
  'serving_intent.publish': defineCommand({
    type: 'serving_intent.publish',
    subject: 'serving_intents',
    to: 'published',
    changes,
    machines: ['management'],
    event: 'serving_intent.published',
    hasRule: true,
    problems: ['value_taken'],
    externalEffect: 'The platform reads it and says what it has applied.',
    summary: 'Says for the first time what should serve at the addresses of a platform.',
  }),
  'serving_intent.republish': defineCommand({
    type: 'serving_intent.republish',
    subject: 'serving_intents',
    from: ['published'],
    to: 'published',
    changes,
    machines: ['management'],
    event: 'serving_intent.republished',
    hasRule: true,
    problems: ['validation_failed'],
    externalEffect: 'The platform reads the new version and says what it has applied.',
    summary: 'Something that serves at the addresses of a platform has changed.',
  }),
} as const;
