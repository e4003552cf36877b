import { memberPermissions } from '@longwave/command-catalog/member-permissions';
import { needed, type CommandOption, type OperatorCommand } from '../command.ts';

const permissionsOf = (text: string | undefined) => (text ?? '').split(',').filter((each) => each !== '');
const permissions = `any of ${memberPermissions.join(', ')}, separated by commas`;
const membershipOption: CommandOption = {
  name: 'membership',
  value: 'MBR',
  idPrefix: 'mbr',
  meaning: 'ID of the membership (mbr_…), as “account show” of the owner lists it',
};

/** Members of an organization: accounts that work in the workspace of its owner. */
export const memberCommands: readonly OperatorCommand[] = [
  {
    name: 'member add',
    summary: 'Makes an account a member of the owner’s organization.',
    options: [
      { name: 'owner', value: 'ACC', idPrefix: 'acc', meaning: 'ID of the account that owns the organization' },
      { name: 'member', value: 'ACC', idPrefix: 'acc', meaning: 'ID of the account that becomes a member' },
      {
        name: 'permissions',
        value: 'LIST',
        meaning: `${permissions} (default: none)`,
        optional: true,
        mayBeEmpty: true,
      },
    ],
    example:
      'member add --owner acc_01jcq7v8z4n2m6k9s3x5t1r0wd --member acc_01jcq7wk3d8f5h2g7b4y6e9pqa --permissions edit,publish',
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
    summary: 'Replaces the permissions of a member.',
    options: [
      membershipOption,
      { name: 'permissions', value: 'LIST', meaning: `${permissions}; "" takes all of them away`, mayBeEmpty: true },
    ],
    example: 'member revise --membership mbr_01jcq7x5c2v8n4m1k6j9h3g7fd --permissions edit,view_analytics',
    run: (operator, options) =>
      operator.changeIdentity(needed(options, 'membership'), 'membership.revise', {
        permissions: permissionsOf(options['permissions']),
      }),
  },
  {
    name: 'member end',
    summary: 'Ends a membership at once.',
    options: [membershipOption],
    example: 'member end --membership mbr_01jcq7x5c2v8n4m1k6j9h3g7fd',
    run: (operator, options) => operator.changeIdentity(needed(options, 'membership'), 'membership.end', {}),
  },
];
