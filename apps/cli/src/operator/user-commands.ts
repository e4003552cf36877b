import { needed, type OperatorCommand } from '../command.ts';

/** Users: people who sign in. */
export const userCommands: readonly OperatorCommand[] = [
  {
    name: 'user remove-second-factor',
    summary: 'Switches off the codes of a user who has lost them all, who then signs in with the password alone.',
    options: [
      {
        name: 'user',
        value: 'USR',
        idPrefix: 'usr',
        meaning: 'ID of the user (usr_…), which “account show” names owner_user_id',
      },
    ],
    example: 'user remove-second-factor --user usr_01jcq7v8z4n2m6k9s3x5t1r0wd',
    run: (operator, options) => operator.changeIdentity(needed(options, 'user'), 'user.remove_second_factor', {}),
  },
];
