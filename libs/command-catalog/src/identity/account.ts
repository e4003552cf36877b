import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { emailAddress, instant, reference, shortText } from '../fields.ts';

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
    /** Invitations name the account by it. */
    email: emailAddress.optional(),
    /** The user who owns it; absent until there is one. */
    owner_user_id: reference('usr').optional(),
    plan: z.string(),
    /** Encoding time of the plan per UTC month; null means unlimited. Followers read it here and need no plan file. */
    encoding_ms_per_month: z.int().min(0).nullable(),
    subscription,
  }),
  states: ['active', 'closed'],
  terminalStates: ['closed'],
  links: {},
  uniqueAttributes: [],
});

const newAccount = z.strictObject({
  name: shortText,
  email: emailAddress.optional(),
  owner_user_id: reference('usr').optional(),
  plan: z.string(),
  subscription: subscription.optional(),
});

export const accountCommands = {
  'account.create': defineCommand({
    type: 'account.create',
    subject: 'accounts',
    to: 'active',
    changes: newAccount,
    machines: ['operator', 'auth-server'],
    event: 'account.created',
    hasRule: true,
    problems: ['validation_failed', 'value_taken'],
    externalEffect: 'A workspace is provisioned.',
    summary: 'Creates an account on a plan.',
  }),
  // Its event is another one, so that no release of management provisions the workspace by itself.
  'account.create_without_workspace': defineCommand({
    type: 'account.create_without_workspace',
    subject: 'accounts',
    to: 'active',
    changes: newAccount,
    machines: ['operator', 'auth-server'],
    event: 'account.registered',
    hasRule: true,
    problems: ['validation_failed', 'value_taken'],
    summary: 'Creates an account on a plan whose owner provisions its workspace by the Management API.',
  }),
  'account.set_plan': defineCommand({
    type: 'account.set_plan',
    subject: 'accounts',
    from: ['active'],
    changes: z.strictObject({ plan: z.string() }),
    machines: ['operator'],
    event: 'account.plan_set',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Moves an account to another plan.',
  }),
  'account.set_subscription': defineCommand({
    type: 'account.set_subscription',
    subject: 'accounts',
    from: ['active'],
    changes: z.strictObject({ subscription }),
    machines: ['operator'],
    event: 'account.subscription_set',
    summary: 'Records the state of the subscription, which decides whether the account’s credentials work.',
  }),
  'account.revise': defineCommand({
    type: 'account.revise',
    subject: 'accounts',
    from: ['active'],
    changes: z.strictObject({ name: shortText.optional(), email: emailAddress.optional() }),
    roles: ['owner'],
    machines: ['operator', 'auth-server'],
    event: 'account.revised',
    hasRule: true,
    problems: ['value_taken', 'permission_denied'],
    summary: 'Changes the name of an account, or the address by which invitations name it.',
  }),
  'account.assign_owner': defineCommand({
    type: 'account.assign_owner',
    subject: 'accounts',
    from: ['active'],
    changes: z.strictObject({ owner_user_id: reference('usr') }),
    machines: ['operator', 'auth-server'],
    event: 'account.owner_assigned',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Makes a user the owner of an account.',
  }),
  'account.close': defineCommand({
    type: 'account.close',
    subject: 'accounts',
    from: ['active'],
    to: 'closed',
    changes: z.strictObject({}),
    roles: ['owner'],
    machines: ['operator', 'auth-server'],
    event: 'account.closed',
    externalEffect: 'Its credentials, sessions and tokens end at once.',
    summary: 'Closes an account.',
  }),
} as const;
