import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { instant, reference, sha256, shortText } from '../fields.ts';

const subscription = z.strictObject({
  state: z.enum(['trialing', 'active', 'past_due', 'canceled', 'suspended']),
  trial_ends_at: instant.optional(),
});
/** Compared without regard to case, stored in lower case. */
const email = z.email().max(255).toLowerCase();

/** Accounts: a customer; its plan and subscription. */
export const accounts = defineResource({
  type: 'accounts',
  noun: 'account',
  prefix: 'acc',
  attributes: z.strictObject({
    name: shortText,
    /** Invitations name the account by it. */
    email: email.optional(),
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

const oauthClientId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/);

/** Kinds of recorded credentials. */
const credentialKinds = [
  'api_key',
  'legacy_token',
  'oauth_access_token',
  'browser_session',
  'mcp_access_token',
  'mcp_personal_token',
] as const;

/** Credentials: the digest of a secret that was shown once. */
export const credentials = defineResource({
  type: 'credentials',
  noun: 'credential',
  prefix: 'crd',
  attributes: z.strictObject({
    account_id: reference('acc'),
    name: shortText,
    kind: z.enum(credentialKinds),
    scope: z.enum(['read', 'read_write']),
    /** Absent: until it is revoked. */
    expires_at: instant.optional(),
    /** The OAuth client that a token was granted to. */
    oauth_client_id: oauthClientId.optional(),
    /** SHA-256 of the credential's text; the text itself has 256 random bits and is stored nowhere. */
    secret_digest: sha256,
  }),
  states: ['active', 'blocked', 'revoked'],
  terminalStates: ['revoked'],
  links: { account: { attribute: 'account_id', type: 'accounts' } },
  uniqueAttributes: ['secret_digest'],
});

/** Permissions of a member of an organization. */
export const memberPermissions = ['edit', 'encode', 'publish', 'view_analytics', 'manage_members', 'review'] as const;

/** Memberships: an account's access to the workspace of another one, the owner of the organization. */
export const memberships = defineResource({
  type: 'memberships',
  noun: 'membership',
  prefix: 'mbr',
  attributes: z.strictObject({
    /** The organization's owner; the membership lives in its workspace. */
    owner_account_id: reference('acc'),
    member_account_id: reference('acc'),
    permissions: z.array(z.enum(memberPermissions)),
  }),
  states: ['active', 'ended'],
  terminalStates: ['ended'],
  links: { owner: { attribute: 'owner_account_id', type: 'accounts' } },
  uniqueAttributes: [],
});

/** The identity part of the catalog, executed by auth-server over its own schema. */
export const accountCommands = {
  'account.create': defineCommand({
    type: 'account.create',
    subject: 'accounts',
    to: 'active',
    changes: z.strictObject({
      name: shortText,
      email: email.optional(),
      plan: z.string(),
      subscription: subscription.optional(),
    }),
    machines: ['operator'],
    event: 'account.created',
    hasRule: true,
    problems: ['validation_failed', 'value_taken'],
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
  'credential.issue': defineCommand({
    type: 'credential.issue',
    subject: 'credentials',
    to: 'active',
    changes: z.strictObject({
      account_id: reference('acc'),
      name: shortText,
      kind: z.enum(credentialKinds),
      scope: z.enum(['read', 'read_write']).default('read_write'),
      expires_at: instant.optional(),
      oauth_client_id: oauthClientId.optional(),
      secret_digest: sha256,
    }),
    machines: ['operator'],
    event: 'credential.issued',
    problems: ['value_taken'],
    summary: 'Records a credential; only the digest of its text is stored.',
  }),
  'credential.block': defineCommand({
    type: 'credential.block',
    subject: 'credentials',
    from: ['active'],
    to: 'blocked',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'credential.blocked',
    externalEffect: 'Its requests are answered with 503.',
    summary: 'Blocks a client whose requests harm the service; it may be unblocked.',
  }),
  'credential.unblock': defineCommand({
    type: 'credential.unblock',
    subject: 'credentials',
    from: ['blocked'],
    to: 'active',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'credential.unblocked',
    summary: 'Unblocks a blocked client.',
  }),
  'credential.revoke': defineCommand({
    type: 'credential.revoke',
    subject: 'credentials',
    from: ['active', 'blocked'],
    to: 'revoked',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'credential.revoked',
    summary: 'Revokes a credential at once.',
  }),
  'membership.add': defineCommand({
    type: 'membership.add',
    subject: 'memberships',
    to: 'active',
    changes: z.strictObject({
      owner_account_id: reference('acc'),
      member_account_id: reference('acc'),
      permissions: z.array(z.enum(memberPermissions)),
    }),
    machines: ['operator'],
    event: 'membership.added',
    hasRule: true,
    problems: ['value_taken', 'validation_failed', 'link_not_found'],
    summary: "Makes an account a member of another account's organization.",
  }),
  'membership.revise': defineCommand({
    type: 'membership.revise',
    subject: 'memberships',
    from: ['active'],
    changes: z.strictObject({ permissions: z.array(z.enum(memberPermissions)) }),
    machines: ['operator'],
    event: 'membership.revised',
    summary: 'Replaces the permissions of a member.',
  }),
  'membership.end': defineCommand({
    type: 'membership.end',
    subject: 'memberships',
    from: ['active'],
    to: 'ended',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'membership.ended',
    summary: 'Ends a membership at once.',
  }),
} as const;
