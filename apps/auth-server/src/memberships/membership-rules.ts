import type { Attributes, identityCatalog } from '@longwave/command-catalog';
import { accessOf, findAnywhere, listLinked, type Actor, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { rolesOfMember } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { lockAccount } from '../identity-table.ts';

type Permissions = Attributes<'memberships'>['permissions'];

const refused = (path: string, code: string, detail: string) =>
  new Problem('validation_failed', detail, { errors: [{ path, code, detail }] });

/**
 * Throws `permission_denied` unless the sender may give each of these permissions: the owner every one, a member who manages members
 * those that the member has.
 */
function assertMayGive(actor: Actor, workspaceId: string, permissions: Permissions): void {
  if (actor.kind === 'service') return;
  const { roles } = accessOf(actor, workspaceId);
  if (roles.includes('owner') || rolesOfMember(permissions).every((role) => role === 'viewer' || roles.includes(role)))
    return;
  throw new Problem('permission_denied', 'A member may give and take only permissions that the member has.');
}

/** Throws unless the account exists, is not the owner and is no member yet. Two additions at once are decided one after the other. */
async function assertMayJoin(
  tx: Transaction,
  workspaceId: string,
  { owner_account_id: ownerId, member_account_id: memberId }: Attributes<'memberships'> & { member_account_id: string },
): Promise<void> {
  if (ownerId === memberId)
    throw refused(
      '/changes/member_account_id',
      'own_account',
      'An account cannot be a member of its own organization.',
    );
  const member = await findAnywhere(tx, 'accounts', memberId);
  if (member?.lifecycle_state !== 'active')
    throw refused('/changes/member_account_id', 'unknown_account', `There is no account ${memberId}.`);
  await lockAccount(tx, ownerId);
  const members = await listLinked(tx, workspaceId, 'memberships', 'owner', ownerId);
  if (members.some((each) => each.lifecycle_state === 'active' && each.attributes.member_account_id === memberId))
    throw new Problem('value_taken', 'This account is already a member.');
}

/** Rules of the membership commands. */
export const membershipRules: Pick<
  Rules<typeof identityCatalog>,
  'membership.invite' | 'membership.accept' | 'membership.add' | 'membership.revise' | 'membership.end'
> = {
  'membership.invite': async ({ tx, workspaceId, changes, actor }) => {
    const { owner_account_id: ownerId, email, permissions } = changes;
    assertMayGive(actor, workspaceId, permissions);
    await lockAccount(tx, ownerId);
    const members = await listLinked(tx, workspaceId, 'memberships', 'owner', ownerId);
    if (members.some(({ lifecycle_state, attributes }) => lifecycle_state === 'invited' && attributes.email === email))
      throw new Problem(
        'value_taken',
        'This address is already invited. Take the invitation back to send another one.',
      );
    return { attributes: changes };
  },

  'membership.accept': async ({ tx, workspaceId, current, changes }) => {
    const attributes = { ...current, ...changes };
    await assertMayJoin(tx, workspaceId, attributes);
    return { attributes };
  },

  'membership.add': async ({ tx, workspaceId, changes }) => {
    await assertMayJoin(tx, workspaceId, changes);
    return { attributes: changes };
  },

  'membership.revise': ({ current, changes, actor, workspaceId }) => {
    assertMayGive(actor, workspaceId, [...current.permissions, ...changes.permissions]);
    return { attributes: { ...current, ...changes } };
  },

  'membership.end': ({ current, actor, workspaceId }) => {
    assertMayGive(actor, workspaceId, current.permissions);
    return { attributes: current };
  },
};
