import { managerRoles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { instant, reference, sha256, shortText } from '../fields.ts';

/** Kinds of recorded credentials. Access tokens are not among them: the authorization server keeps those. */
const credentialKinds = ['api_key', 'legacy_token', 'browser_session', 'mcp_personal_token'] as const;

/** Credentials: the digest of a secret that was shown once. */
export const credentials = defineResource({
  type: 'credentials',
  noun: 'credential',
  prefix: 'crd',
  attributes: z.strictObject({
    account_id: reference('acc'),
    /** The person whom a session, a token for agents, or a key or token of a member stands for; absent for keys and tokens of the account. */
    user_id: reference('usr').optional(),
    name: shortText,
    kind: z.enum(credentialKinds),
    scope: z.enum(['read', 'read_write']),
    /** Absent: until it is revoked. */
    expires_at: instant.optional(),
    /** SHA-256 of the credential's text; the text itself has 256 random bits and is stored nowhere. */
    secret_digest: sha256,
  }),
  states: ['active', 'blocked', 'revoked'],
  terminalStates: ['revoked'],
  links: { account: { attribute: 'account_id', type: 'accounts' } },
  uniqueAttributes: ['secret_digest'],
});

export const credentialCommands = {
  'credential.issue': defineCommand({
    type: 'credential.issue',
    subject: 'credentials',
    to: 'active',
    changes: z.strictObject({
      account_id: reference('acc'),
      user_id: reference('usr').optional(),
      name: shortText,
      kind: z.enum(credentialKinds),
      scope: z.enum(['read', 'read_write']).default('read_write'),
      expires_at: instant.optional(),
      secret_digest: sha256,
    }),
    roles: managerRoles,
    machines: ['operator', 'auth-server'],
    event: 'credential.issued',
    hasRule: true,
    problems: ['value_taken', 'permission_denied'],
    summary: 'Records a credential; only the digest of its text is stored.',
  }),
  'credential.expire': defineCommand({
    type: 'credential.expire',
    subject: 'credentials',
    from: ['active', 'blocked'],
    changes: z.strictObject({ expires_at: instant }),
    roles: managerRoles,
    machines: ['operator', 'auth-server'],
    event: 'credential.expiry_set',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Ends a credential at a time, as when a new key takes its place; the time never moves later.',
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
    roles: managerRoles,
    machines: ['operator', 'auth-server'],
    event: 'credential.revoked',
    summary: 'Revokes a credential at once.',
  }),
} as const;
