import type { identityCatalog } from '@longwave/command-catalog';
import { findAnywhere, listLinked, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { lockAccount } from '../identity-table.ts';

const refused = (path: string, code: string, detail: string) =>
  new Problem('validation_failed', detail, { errors: [{ path, code, detail }] });

/** Rules of the membership commands. */
export const membershipRules: Pick<Rules<typeof identityCatalog>, 'membership.add'> = {
  'membership.add': async ({ tx, workspaceId, changes }) => {
    const { owner_account_id: ownerId, member_account_id: memberId } = changes;
    if (ownerId === memberId)
      throw refused(
        '/changes/member_account_id',
        'own_account',
        'An account cannot be a member of its own organization.',
      );
    const member = await findAnywhere(tx, 'accounts', memberId);
    if (member?.lifecycle_state !== 'active')
      throw refused('/changes/member_account_id', 'unknown_account', `There is no account ${memberId}.`);
    // Two additions at once are decided one after the other.
    await lockAccount(tx, ownerId);
    const members = await listLinked(tx, workspaceId, 'memberships', 'owner', ownerId);
    if (members.some((each) => each.lifecycle_state === 'active' && each.attributes.member_account_id === memberId))
      throw new Problem('value_taken', 'This account is already a member.');
    return { attributes: changes };
  },
};
