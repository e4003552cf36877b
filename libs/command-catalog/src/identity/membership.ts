import { managerRoles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { emailAddress, reference } from '../fields.ts';
import { memberPermissions } from './member-permissions.ts';

const permissions = z.array(z.enum(memberPermissions));
/** Memberships: an account's access to the workspace of another one, the owner of the organization. */
export const memberships = defineResource({
  type: 'memberships',
  noun: 'membership',
  prefix: 'mbr',
  attributes: z.strictObject({
    /** The organization's owner; the membership lives in its workspace. */
    owner_account_id: reference('acc'),
    /** Absent while the invitation waits. */
    member_account_id: reference('acc').optional(),
    /** The address that was invited; absent when the operator added the member. */
    email: emailAddress.optional(),
    permissions,
  }),
  states: ['invited', 'active', 'ended'],
  terminalStates: ['ended'],
  links: { owner: { attribute: 'owner_account_id', type: 'accounts' } },
  uniqueAttributes: [],
});

export const membershipCommands = {
  'membership.invite': defineCommand({
    type: 'membership.invite',
    subject: 'memberships',
    to: 'invited',
    changes: z.strictObject({ owner_account_id: reference('acc'), email: emailAddress, permissions }),
    roles: managerRoles,
    event: 'membership.invited',
    hasRule: true,
    problems: ['value_taken', 'validation_failed', 'link_not_found', 'permission_denied'],
    externalEffect: 'A mail with the invitation goes to the address.',
    summary: 'Invites the holder of an e-mail address to the organization; the holder accepts or declines.',
  }),
  'membership.accept': defineCommand({
    type: 'membership.accept',
    subject: 'memberships',
    from: ['invited'],
    to: 'active',
    changes: z.strictObject({ member_account_id: reference('acc') }),
    machines: ['auth-server'],
    event: 'membership.accepted',
    hasRule: true,
    problems: ['value_taken', 'validation_failed'],
    summary: 'Makes the account of the person who followed the invitation a member.',
  }),
  'membership.add': defineCommand({
    type: 'membership.add',
    subject: 'memberships',
    to: 'active',
    changes: z.strictObject({
      owner_account_id: reference('acc'),
      member_account_id: reference('acc'),
      permissions,
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
    from: ['invited', 'active'],
    changes: z.strictObject({ permissions }),
    roles: managerRoles,
    machines: ['operator'],
    event: 'membership.revised',
    hasRule: true,
    problems: ['permission_denied'],
    summary: 'Replaces the permissions of a member.',
  }),
  'membership.end': defineCommand({
    type: 'membership.end',
    subject: 'memberships',
    from: ['invited', 'active'],
    to: 'ended',
    changes: z.strictObject({}),
    roles: managerRoles,
    machines: ['operator', 'auth-server'],
    event: 'membership.ended',
    hasRule: true,
    problems: ['permission_denied'],
    summary: 'Ends a membership, or an invitation, at once.',
  }),
} as const;
