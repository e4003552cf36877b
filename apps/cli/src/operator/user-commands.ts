import { needed, type CommandOption, type OperatorCommand } from '../command.ts';

const userOption: CommandOption = {
  name: 'user',
  value: 'USR',
  idPrefix: 'usr',
  meaning: 'ID of the user (usr_…), which “account show” names owner_user_id',
};

/** Users: people who sign in. */
export const userCommands: readonly OperatorCommand[] = [
  {
    name: 'user remove-second-factor',
    summary: 'Switches off the codes of a user who has lost them all, who then signs in with the password alone.',
    options: [userOption],
    example: 'user remove-second-factor --user usr_01jcq7v8z4n2m6k9s3x5t1r0wd',
    run: (operator, options) => operator.changeIdentity(needed(options, 'user'), 'user.remove_second_factor', {}),
  },
  {
    name: 'user close',
    summary: 'Closes a user, whose sessions and tokens end at once; the accounts stay. This cannot be undone.',
    options: [userOption],
    example: 'user close --user usr_01jcq7v8z4n2m6k9s3x5t1r0wd',
    run: (operator, options) => operator.changeIdentity(needed(options, 'user'), 'user.close', {}),
  },
];
