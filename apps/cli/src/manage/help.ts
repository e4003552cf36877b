import { typed } from '../command.ts';
import type { ManageCommand } from './commands.ts';
import { describedLines } from './table.ts';

const workspaceLine = [
  '--workspace WS',
  'which workspace, where you see several; or LONGWAVE_WORKSPACE in the environment',
] as const;

/** The help of `longwave manage`. */
export const manageHelp = (commands: readonly ManageCommand[]): string =>
  [
    `usage: ${typed} manage COMMAND [--workspace WS]`,
    `Works with the Management API as the person who signed in by \`${typed} login --for management\`.`,
    describedLines(commands.map(({ name, usage, summary }) => [`${name} ${usage}`.trimEnd(), summary])),
    describedLines([workspaceLine]),
    `Each command takes --help: ${typed} manage list --help, ${typed} manage run campaign.create --help`,
  ].join('\n\n');

/** The help of one of its commands. */
export const helpOfManage = ({ name, usage, summary, options, example }: ManageCommand): string =>
  [
    `usage: ${`${typed} manage ${name} ${usage}`.trimEnd()}`,
    summary[0]!.toUpperCase() + summary.slice(1),
    describedLines([...options, workspaceLine]),
    `Example:\n  ${typed} manage ${example}`,
    ...(name === 'run' ? [`${typed} manage run campaign.create --help explains the fields of a command.`] : []),
  ].join('\n\n');
