import { grantedRoles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, emailAddress, instant, instantWithOffset, reference, stateReason } from '../fields.ts';

/** A person, by the user's id or by an address that may belong to nobody yet. */
const grantee = z.union([z.strictObject({ user_id: reference('usr') }), z.strictObject({ email: emailAddress })]);

const role = z.enum(grantedRoles);

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
    party: 'grantee',
    event: 'authority_grant.activated',
    hasRule: true,
    problems: ['permission_denied', 'state_not_allowed'],
    externalEffect: 'Within 5 s the grantee has the role in every API.',
    summary: 'Takes up a proposed grant; only its grantee can.',
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
