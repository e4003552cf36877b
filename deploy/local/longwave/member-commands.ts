import { needed, type OperatorCommand } from './command.ts';

const permissionsOf = (text: string | undefined) => (text ?? '').split(',').filter((each) => each !== '');

/** Members of an organization: accounts that work in the workspace of its owner. */
export const memberCommands: readonly OperatorCommand[] = [
  {
    name: 'member add',
    usage: '--owner ACC --member ACC [--permissions edit,encode,publish,view_analytics,manage_members,review]',
    summary: "makes an account a member of the owner's organization",
    run: async (operator, options) => {
      const owner = await operator.account(needed(options, 'owner'));
      const { id } = await operator.identityCommand(
        owner.workspace_id,
        'membership.add',
        { type: 'memberships' },
        {
          owner_account_id: owner.id,
          member_account_id: needed(options, 'member'),
          permissions: permissionsOf(options['permissions']),
        },
      );
      return { membership_id: id };
    },
  },
  {
    name: 'member revise',
    usage: '--membership MBR --permissions LIST',
    summary: 'replaces the permissions of a member',
    run: (operator, options) =>
      operator.changeIdentity(needed(options, 'membership'), 'membership.revise', {
        // An empty list takes every permission away.
        permissions: permissionsOf(options['permissions'] ?? needed(options, 'permissions')),
      }),
  },
  {
    name: 'member end',
    usage: '--membership MBR',
    summary: 'ends a membership at once',
    run: (operator, options) => operator.changeIdentity(needed(options, 'membership'), 'membership.end', {}),
  },
];
