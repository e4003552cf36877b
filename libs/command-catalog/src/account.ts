import { z } from 'zod';
import { defineCommand, defineResource } from './definition.ts';
import { instant, reference, sha256, shortText } from './fields.ts';

const subscription = z.strictObject({
  state: z.enum(['trialing', 'active', 'past_due', 'canceled', 'suspended']),
  trial_ends_at: instant.optional(),
});

/** Accounts: a customer; its plan and subscription. */
export const accounts = defineResource({
  type: 'accounts',
  noun: 'account',
  prefix: 'acc',
  attributes: z.strictObject({
    name: shortText,
    plan: z.string(),
    /** Encoding time of the plan per UTC month; null means unlimited. Carried so that followers need no plan file. */
    encoding_ms_per_month: z.int().min(0).nullable(),
    subscription,
  }),
  states: ['active', 'closed'],
  terminalStates: ['closed'],
  links: {},
  uniqueAttributes: [],
});

/** Credentials: the digest of a secret that was shown once. */
export const credentials = defineResource({
  type: 'credentials',
  noun: 'credential',
  prefix: 'crd',
  attributes: z.strictObject({
    account_id: reference('acc'),
    name: shortText,
    kind: z.enum(['api_key', 'legacy_token']),
    scope: z.enum(['read', 'read_write']),
    /** SHA-256 of the credential's text; the text itself has 256 random bits and is stored nowhere. */
    secret_digest: sha256,
  }),
  states: ['active', 'revoked'],
  terminalStates: ['revoked'],
  links: { account: { attribute: 'account_id', type: 'accounts' } },
  uniqueAttributes: ['secret_digest'],
});

/** The identity part of the catalog, executed by auth-server over its own schema. */
export const accountCommands = {
  'account.create': defineCommand({
    type: 'account.create',
    subject: 'accounts',
    to: 'active',
    changes: z.strictObject({ name: shortText, plan: z.string(), subscription: subscription.optional() }),
    machines: ['operator'],
    event: 'account.created',
    ruled: true,
    problems: ['validation_failed'],
    externalEffect: 'A workspace is provisioned.',
    summary: 'Creates an account on a plan.',
  }),
  'account.set_plan': defineCommand({
    type: 'account.set_plan',
    subject: 'accounts',
    from: ['active'],
    changes: z.strictObject({ plan: z.string() }),
    machines: ['operator'],
    event: 'account.plan_set',
    ruled: true,
    problems: ['validation_failed'],
    summary: 'Moves an account to another plan.',
  }),
  'credential.issue': defineCommand({
    type: 'credential.issue',
    subject: 'credentials',
    to: 'active',
    changes: z.strictObject({
      account_id: reference('acc'),
      name: shortText,
      kind: z.enum(['api_key', 'legacy_token']),
      scope: z.enum(['read', 'read_write']).default('read_write'),
      secret_digest: sha256,
    }),
    machines: ['operator'],
    event: 'credential.issued',
    problems: ['value_taken'],
    summary: 'Records a credential by the digest of its text.',
  }),
  'credential.revoke': defineCommand({
    type: 'credential.revoke',
    subject: 'credentials',
    from: ['active'],
    to: 'revoked',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'credential.revoked',
    summary: 'Revokes a credential at once.',
  }),
} as const;
