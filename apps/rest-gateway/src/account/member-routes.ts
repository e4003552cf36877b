import {
  identityCatalog,
  memberPermissions,
  memberships,
  type IdentityCommand,
  type Resource,
} from '@longwave/command-catalog';
import type { Member } from '@longwave/rpc/credential';
import { z } from 'zod';
import { listQuery, renderList } from '../list-answer.ts';
import { permitRoles } from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type Route } from '../route.ts';
import { instantOf } from './instant.ts';
import { sendToIdentity } from './send-to-identity.ts';

const permissions = z.array(z.enum(memberPermissions)).describe('What the member may do in this account.');

const member: AnswerShape = {
  name: 'Member',
  schema: z.strictObject({
    /** Of the membership. */
    id: z.string(),
    state: z.enum(['invited', 'active']).describe('"invited" until the person accepts the invitation.'),
    account_id: z.string().optional(),
    name: z.string().optional(),
    email: z.email().optional(),
    permissions,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
};

const renderMember = ({ id, state, accountId, name, email, permissions: held, createdAtMs, updatedAtMs }: Member) => ({
  ...{ id, state, ...(accountId !== '' && { account_id: accountId, name }), ...(email !== '' && { email }) },
  ...{ permissions: held, created_at: instantOf(createdAtMs), updated_at: instantOf(updatedAtMs) },
});

/** A membership as the answer to its own command. The name of a member is in the list. */
const renderMembership = ({
  id,
  lifecycle_state: state,
  attributes,
  created_at,
  updated_at,
}: Resource<'memberships'>) => ({
  ...{ id, state, ...(attributes.member_account_id && { account_id: attributes.member_account_id }) },
  ...{
    ...(attributes.email && { email: attributes.email }),
    permissions: attributes.permissions,
    created_at,
    updated_at,
  },
});

const rolesOf = (type: IdentityCommand) => identityCatalog.commands[type].roles;

const listMembers = (path: string): Route =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'memberList',
    summary:
      'Lists the members of the organization that the account of the credential owns, and invitations that wait, oldest first.',
    permit: permitRoles(rolesOf('membership.invite')),
    query: listQuery.pick({ fields_filter: true, page: true, per_page: true }),
    answer: { ...member, list: true },
    refusals: [403],
    run: ({ caller, query, url }, { identity, baseUrl }) =>
      renderList(
        identity.memberPages(caller),
        (members) => members.map(renderMember),
        query,
        new URL(url, baseUrl).href,
      ),
  });

const inviteMember = (path: string): Route =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'memberInvite',
    summary:
      'Invites the holder of an e-mail address to the organization. A member who manages members may give only permissions that the member has.',
    permit: permitRoles(rolesOf('membership.invite')),
    body: z.strictObject({ email: memberships.attributes.shape.email.unwrap(), permissions }),
    status: 201,
    answer: member,
    command: true,
    run: async ({ caller, body, idempotencyKey }, { identity }) => {
      const changes = { owner_account_id: caller.accountId, ...body };
      const { resource } = await identity.execute(caller, { type: 'membership.invite', changes, idempotencyKey });
      return { status: 201, body: renderMembership(resource) };
    },
  });

const reviseMember = (path: string): Route =>
  defineRoute({
    method: 'PUT',
    path,
    operation: 'memberRevise',
    summary: 'Replaces the permissions of a member, or of an invitation.',
    permit: permitRoles(rolesOf('membership.revise')),
    body: z.strictObject({ permissions }),
    answer: member,
    command: true,
    refusals: [404],
    run: async (call, deps) => ({
      status: 200,
      body: renderMembership(await sendToIdentity(call, deps, 'membership.revise', call.body)),
    }),
  });

const endMembership = (path: string): Route =>
  defineRoute({
    method: 'DELETE',
    path,
    operation: 'memberRemove',
    summary: 'Ends a membership, or takes an invitation back. It counts from the next request.',
    permit: permitRoles(rolesOf('membership.end')),
    status: 204,
    answer: 'empty',
    command: true,
    refusals: [404],
    run: async (call, deps) => {
      await sendToIdentity(call, deps, 'membership.end', {});
      return { status: 204 };
    },
  });

/** Members of the caller's organization: list, invite, change, end. */
export const members = (path: string): readonly Route[] => [
  listMembers(path),
  inviteMember(path),
  reviseMember(`${path}/{id}`),
  endMembership(`${path}/{id}`),
];
