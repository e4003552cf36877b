import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UsageError, type CommandOption, type Options } from './command.ts';
import { commands, type Command } from './commands.ts';
import { dataOption, helpOf, helpOfNoun, overview, usageOf } from './help.ts';

/** What a command line asks for. */
export type CommandLine =
  | { readonly kind: 'explain'; readonly text: string }
  | { readonly kind: 'run'; readonly command: Command; readonly options: Options; readonly data: string };

const text = { type: 'string' } as const;
const parsing = (options: readonly CommandOption[]) =>
  ({
    allowPositionals: true,
    options: {
      ...Object.fromEntries([...options, dataOption].map(({ name }) => [name, text])),
      help: { type: 'boolean', short: 'h' },
    },
  }) satisfies ParseArgsConfig;

/** The words that are no options, whichever command they name. */
const wordsOf = (args: readonly string[]) =>
  parseArgs({ args: [...args], strict: false, ...parsing(commands.flatMap(({ options }) => options)) }).positionals;

function readOptions(command: Command, args: readonly string[]): Options {
  try {
    const { values } = parseArgs({ args: [...args], ...parsing(command.options) });
    return values as Options;
  } catch (error) {
    // Node adds advice about positional arguments, which no command of ours takes.
    throw new UsageError((error as Error).message.split('. To specify a positional argument')[0]!);
  }
}

function checkOptions(command: Command, options: Options): void {
  for (const { name, optional, mayBeEmpty } of [...command.options, dataOption]) {
    if (options[name] === undefined && !optional) throw new UsageError(`--${name} is missing.`);
    if (options[name] === '' && !mayBeEmpty) throw new UsageError(`--${name} is empty.`);
  }
}

/** Reads what was typed after `npm run longwave --`. Throws `UsageError` with the usage that was meant. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const words = wordsOf(args);
  const [noun, verb, ...more] = words;
  const isHelp = args.includes('--help') || args.includes('-h');
  if (noun === undefined) {
    if (isHelp) return { kind: 'explain', text: overview };
    throw new UsageError(overview);
  }
  const command = commands.find(({ name }) => name === `${noun} ${verb}`);
  if (!command) {
    const ofNoun = commands.filter(({ name }) => name.startsWith(`${noun} `));
    const help = ofNoun.length > 0 ? helpOfNoun(noun, ofNoun) : overview;
    if (isHelp && ofNoun.length > 0 && verb === undefined) return { kind: 'explain', text: help };
    const problem =
      verb === undefined && ofNoun.length > 0
        ? `“${noun}” needs a command after it.`
        : `There is no command “${[noun, verb].filter(Boolean).join(' ')}”.`;
    throw new UsageError(`${problem}\n\n${help}`);
  }
  if (isHelp) return { kind: 'explain', text: helpOf(command) };
  try {
    const options = readOptions(command, args);
    if (more.length > 0) throw new UsageError(`“${more.join(' ')}” belongs to no option.`);
    checkOptions(command, options);
    return { kind: 'run', command, options, data: options['data'] ?? '.longwave' };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw explained(command, error);
  }
}

/** A usage error with the usage of its command. */
export const explained = (command: Command, { message }: UsageError): UsageError =>
  new UsageError(
    `${message}\n\nusage: npm run longwave -- ${usageOf(command)}\n\nnpm run longwave -- ${command.name} --help explains the options.`,
  );
