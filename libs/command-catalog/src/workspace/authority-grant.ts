import { grantedRoles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { messageSource } from '../exchange/message-source.ts';
import { cause, emailAddress, instant, instantWithOffset, reference, stateReason } from '../fields.ts';

/** A person, by the user's id or by an address that may belong to nobody yet; or a hosting platform, by the id of its OAuth client. */
const grantee = z.union([
  z.strictObject({ user_id: reference('usr') }),
  z.strictObject({ email: emailAddress }),
  z.strictObject({ client_id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/) }),
]);

/** `machine` is the role of hosting platforms, and of nobody else. */
const role = z.enum([...grantedRoles, 'machine']);

/** The last time that a platform put another key in the place of one. */
const rotation = z.strictObject({
  retired_key_id: reference('key'),
  successor_key_id: reference('key'),
  overlap_until: instant,
  cause,
  message_digest: messageSource.message_digest,
});

/** Absent: the whole workspace. */
const scopeFilter = z.strictObject({ podcast_ids: z.array(reference('pod')).min(1).max(50) });

/** Authority grants: a role in the workspace for a person of another account, proposed by an admin and taken up by the person. */
export const authorityGrants = defineResource({
  type: 'authority_grants',
  noun: 'authority_grant',
  prefix: 'agr',
  attributes: z.strictObject({
    grantee,
    /** The person who activated it, and to whom it belongs from then on. */
    grantee_user_id: reference('usr').optional(),
    role,
    scope_filter: scopeFilter.optional(),
    expires_at: instant,
    rotation: rotation.optional(),
    state_reason: stateReason,
  }),
  states: ['proposed', 'active', 'revoked', 'expired'],
  terminalStates: ['revoked', 'expired'],
  links: {},
  uniqueAttributes: [],
});

export const authorityGrantCommands = {
  'authority_grant.propose': defineCommand({
    type: 'authority_grant.propose',
    subject: 'authority_grants',
    to: 'proposed',
    changes: z.strictObject({ grantee, role, scope_filter: scopeFilter.optional(), expires_at: instantWithOffset }),
    roles: ['admin'],
    review: 'single',
    reviewers: ['reviewer', 'admin'],
    event: 'authority_grant.proposed',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    externalEffect: 'The grantee sees the proposal.',
    summary: 'Offers a person a role in the workspace until a time. It takes effect when that person activates it.',
  }),
  'authority_grant.activate': defineCommand({
    type: 'authority_grant.activate',
    subject: 'authority_grants',
    from: ['proposed'],
    to: 'active',
    changes: z.strictObject({}),
    roles: ['admin'],
    party: 'grantee',
    event: 'authority_grant.activated',
    hasRule: true,
    problems: ['permission_denied', 'state_not_allowed'],
    externalEffect: 'Within 5 s the grantee has the role in every API.',
    summary: 'Takes up a proposed grant; only its grantee can, or an admin for a hosting platform.',
  }),
  'authority_grant.revoke': defineCommand({
    type: 'authority_grant.revoke',
    subject: 'authority_grants',
    from: ['proposed', 'active'],
    to: 'revoked',
    changes: z.strictObject({ cause }),
    roles: ['admin'],
    party: 'grantee',
    machines: ['management'],
    whileSuspended: 'accepted',
    event: 'authority_grant.revoked',
    externalEffect: 'Within 5 s the grantee has the role no more; its machine keys are revoked.',
    summary: 'Takes a grant back. The grantee can decline or return it by the same command.',
  }),
  'authority_grant.record_rotation': defineCommand({
    type: 'authority_grant.record_rotation',
    subject: 'authority_grants',
    from: ['active'],
    changes: z.strictObject({
      ...messageSource,
      rotation: z.strictObject({ ...rotation.omit({ message_digest: true }).shape, overlap_until: instantWithOffset }),
    }),
    machines: ['hosting-exchange'],
    event: 'authority_grant.rotated',
    hasRule: true,
    problems: ['key_revoked', 'state_not_allowed', 'validation_failed'],
    externalEffect: 'The former key is retired.',
    summary: 'A hosting platform puts another registered key in the place of one.',
  }),
  'authority_grant.expire': defineCommand({
    type: 'authority_grant.expire',
    subject: 'authority_grants',
    from: ['proposed', 'active'],
    to: 'expired',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'authority_grant.expired',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'The time of a grant is over.',
  }),
} as const;
