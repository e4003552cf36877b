/** `longwave exchange`: what a hosting platform does in the Hosting Exchange; it uses nothing but the public API. */
import { streamId } from '@longwave/exchange-messages';
import { didYouMean } from '@longwave/service-kit/nearest';
import { typed, UsageError } from '../command.ts';
import { describedLines } from '../manage/table.ts';
import { parseOptions } from '../parse-options.ts';
import { fail } from '../sign-in/read-options.ts';
import type { ExchangeCommand } from './exchange-command.ts';
import { explainedFailure } from './explain-failure.ts';
import { keyCommand } from './key-command.ts';
import { messageCommands } from './message-commands.ts';
import { readCommands } from './read-commands.ts';
import { rotateCommand } from './rotate-command.ts';
import { connect, settingOptions, settingsFor, type Connection, type SettingOption } from './settings.ts';
import { submitCommand } from './submit-command.ts';

const commands: readonly ExchangeCommand[] = [
  keyCommand,
  ...messageCommands,
  rotateCommand,
  submitCommand,
  ...readCommands,
];

const flag = (name: string, value: string) => `--${name} ${value}`;
const lineOf = ({ name, words, options, needed }: ExchangeCommand) =>
  [
    ...[name, ...words],
    ...Object.entries(options).map(([option, [value]]) =>
      needed.includes(option) ? flag(option, value) : `[${flag(option, value)}]`,
    ),
  ].join(' ');
const settingLines = (settings: ReturnType<typeof settingsFor>) =>
  describedLines(settings.map(([name, [value, meaning]]) => [flag(name, value), meaning]));

const usage = [
  `usage: ${typed} exchange COMMAND [settings]`,
  'Signs and sends the messages of a hosting platform, and reads what became of them. Results are printed as JSON.',
  describedLines(commands.map((command) => [lineOf(command), command.summary])),
  'Settings:',
  settingLines(Object.entries(settingOptions)),
  `Each command takes --help: ${typed} exchange snapshot --help`,
].join('\n\n');

const helpOf = (command: ExchangeCommand): string =>
  [
    `usage: ${typed} exchange ${lineOf(command)}`,
    `${command.summary[0]!.toUpperCase()}${command.summary.slice(1)}.`,
    describedLines(
      Object.entries(command.options).map(([name, [value, meaning]]) => [
        flag(name, value),
        command.needed.includes(name) ? meaning : `optional: ${meaning}`,
      ]),
    ),
    ...(command.reads === 'nothing' ? [] : ['Settings:', settingLines(settingsFor(command))]),
  ]
    .filter((each) => each !== '')
    .join('\n\n');

function readArguments(command: ExchangeCommand, args: readonly string[]) {
  const options = { ...settingOptions, ...command.options };
  const parsed = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      ...Object.fromEntries(Object.keys({ ...options, data: [] }).map((name) => [name, { type: 'string' as const }])),
      // Results are JSON anyway.
      json: { type: 'boolean' as const },
    },
  });
  const { positionals } = parsed;
  const values = parsed.values as Readonly<Record<string, string | undefined>>;
  const { words } = command;
  const missing = words[positionals.length] ?? command.needed.find((name) => !values[name]);
  if (missing !== undefined) throw new UsageError(`${words.includes(missing) ? missing : `--${missing}`} is missing.`);
  if (positionals.length > words.length)
    throw new UsageError(`“${positionals.slice(words.length).join(' ')}” belongs to no option.`);
  const stream = words[0] === 'STREAM' ? positionals[0] : values['stream'];
  if (stream !== undefined && !streamId.safeParse(stream).success)
    throw new UsageError(`“${stream}” is not the name of a stream. Write one such as show:1234.`);
  return { words: positionals, values };
}

async function run(command: ExchangeCommand, args: readonly string[]): Promise<void> {
  const { words, values } = readArguments(command, args);
  const { keep } = values;
  let connection: Connection | undefined;
  const open = () => (connection ??= connect(settingsOf(values), command, keep));
  try {
    const result = await command.run({ words, values, connect: open });
    if (result !== undefined) console.log(JSON.stringify(result, null, 2));
  } catch (error) {
    throw explainedFailure(error, command, connection, keep);
  }
}

const settingsOf = (values: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => Object.hasOwn(settingOptions, name) && value !== undefined),
  ) as Partial<Record<SettingOption, string>>;

async function exchange(args: readonly string[]): Promise<void> {
  const [name] = args;
  if (name === undefined) throw new UsageError(usage);
  if (name === '--help' || name === '-h') return console.log(usage);
  const command = commands.find((each) => args.slice(0, each.name.split(' ').length).join(' ') === each.name);
  if (!command) {
    const names = commands.map((each) => each.name);
    throw new UsageError(`There is no command “exchange ${name}”.${didYouMean(name, names)}\n\n${usage}`);
  }
  const rest = args.slice(command.name.split(' ').length);
  if (rest.includes('--help') || rest.includes('-h')) return console.log(helpOf(command));
  try {
    await run(command, rest);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message}\n\nusage: ${typed} exchange ${lineOf(command)}`);
  }
}

await exchange(process.argv.slice(2)).catch(fail);
