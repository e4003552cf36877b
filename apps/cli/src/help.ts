import { typed, type CommandDescription, type CommandOption } from './command.ts';
import { commands } from './commands.ts';
import { tools } from './tools.ts';

/** Taken by every command. */
export const dataOption: CommandOption = {
  name: 'data',
  value: 'FOLDER',
  meaning: 'data folder of the running service (default: .longwave)',
  optional: true,
};

/** Taken by every command. */
export const jsonFlag = { name: 'json', meaning: 'print one JSON document' } as const;

const flagOf = ({ name, value }: CommandOption) => `--${name} ${value}`;

/** "account show --account ACC" */
export const usageOf = ({ name, options }: CommandDescription): string =>
  [name, ...options.map((option) => (option.optional ? `[${flagOf(option)}]` : flagOf(option)))].join(' ');

/** One command: what it does, its options one per line, and an example. */
export function helpOf(command: CommandDescription): string {
  const options = [...command.options, dataOption];
  const rows = [
    ...options.map((option) => [flagOf(option), `${option.optional ? 'optional: ' : ''}${option.meaning}`] as const),
    [
      `--${jsonFlag.name}`,
      `optional: ${jsonFlag.meaning}${'run' in command && !('linesOf' in command) ? ', as it does without' : ''}`,
    ] as const,
  ];
  const width = Math.max(...rows.map(([flag]) => flag.length));
  const lines = rows.map(([flag, meaning]) => `  ${flag.padEnd(width)}  ${meaning}`);
  return [
    `usage: ${typed} ${usageOf(command)}`,
    command.summary,
    lines.join('\n'),
    `Example:\n  ${typed} ${command.example}`,
  ].join('\n\n');
}

const entry = (usage: string, summary: string) => `  ${usage}\n      ${summary}`;

/** The commands of one noun: "account". */
export const helpOfNoun = (noun: string, found: readonly CommandDescription[]): string =>
  [
    `usage: ${typed} ${noun} COMMAND`,
    found.map((command) => entry(usageOf(command), command.summary)).join('\n'),
    `${typed} ${found[0]!.name} --help explains the options of a command.`,
  ].join('\n\n');

/** All commands. */
export const overview = [
  `usage: ${typed} COMMAND`,
  'What an operator does on the service that `npm start` started. The answer is printed as JSON.',
  [
    ...commands.map((command) => entry(usageOf(command), command.summary)),
    ...Object.entries(tools).map(([name, { usage, summary }]) => entry(`${name} ${usage}`.trimEnd(), summary)),
  ].join('\n'),
  `  ${flagOf(dataOption)}\n      for every command: ${dataOption.meaning}\n  --${jsonFlag.name}\n      for every command: ${jsonFlag.meaning}`,
  'Exit codes of every command: 0 done, 1 failed, or what it looked at is not well, 2 the command line is wrong.',
  `Each command takes --help: ${typed} account create --help\n--version prints the version of this checkout.`,
  'Plans: launch, grow, scale, network (the default), classic; or those of your PLANS_FILE.',
].join('\n\n');
