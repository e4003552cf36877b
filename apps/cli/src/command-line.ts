import { parseArgs, type ParseArgsConfig } from 'node:util';
import { isId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { typed, UsageError, type CommandOption, type Options } from './command.ts';
import { commands, type Command } from './commands.ts';
import { nearest } from '@longwave/service-kit/nearest';
import { parseOptions } from './parse-options.ts';
import { productVersion } from './product-version.ts';
import { dataOption, helpOf, jsonFlag, helpOfNoun, overview, usageOf } from './help.ts';
import { tools } from './tools.ts';

/** A parsed command line. */
export type CommandLine =
  | { readonly kind: 'explain'; readonly text: string }
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly options: Options;
      readonly data: string | undefined;
      readonly json: boolean;
    };

const text = { type: 'string' } as const;
const parsing = (options: readonly CommandOption[]) =>
  ({
    allowPositionals: true,
    options: {
      ...Object.fromEntries([...options, dataOption].map(({ name }) => [name, text])),
      [jsonFlag.name]: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  }) satisfies ParseArgsConfig;

/** The words that are no options, whichever command they name. */
const wordsOf = (args: readonly string[]) =>
  parseArgs({ args: [...args], strict: false, ...parsing(commands.flatMap(({ options }) => options)) }).positionals;

function readOptions(command: Command, args: readonly string[]): { readonly options: Options; readonly json: boolean } {
  const { json, ...options } = parseOptions({ args: [...args], ...parsing(command.options) }).values;
  return { options: options as Options, json: json === true };
}

function checkOptions(command: Command, options: Options): void {
  for (const { name, optional, mayBeEmpty } of [...command.options, dataOption]) {
    if (options[name] === undefined && !optional) throw new UsageError(`--${name} is missing.`);
    if (options[name] === '' && !mayBeEmpty) throw new UsageError(`--${name} is empty.`);
  }
  for (const { name, idPrefix } of command.options) {
    if (idPrefix === undefined || options[name] === undefined) continue;
    const wrong = options[name].split(',').find((each) => !isId(each, idPrefix));
    if (wrong !== undefined) throw new UsageError(`--${name}: “${wrong}” is not an ID of the form ${idPrefix}_….`);
  }
}

const firstWords = [...new Set(commands.map(({ name }) => name.split(' ')[0]!)), ...Object.keys(tools)];

/** The command that was perhaps meant, as a sentence. */
function suggestion(noun: string, verb = ''): string {
  const verbs = commands.flatMap(({ name }) => (name.startsWith(`${noun} `) ? [name.slice(noun.length + 1)] : []));
  const near = firstWords.includes(noun) ? nearest(verb, verbs) : nearest(noun, firstWords);
  if (near === undefined) return '';
  return ` Did you mean “${verbs.length > 0 ? `${noun} ${near}` : near}”?`;
}

/** Reads the arguments of `longwave`. Throws `UsageError` with the usage that was meant. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const words = wordsOf(args);
  const [noun, verb, ...more] = words;
  const isHelp = args.includes('--help') || args.includes('-h');
  if (noun === undefined) {
    if (args.includes('--version')) return { kind: 'explain', text: productVersion() };
    if (isHelp) return { kind: 'explain', text: overview };
    throw new UsageError(overview);
  }
  const command = commands.find(({ name }) => name === `${noun} ${verb}`);
  if (!command) {
    const ofNoun = commands.filter(({ name }) => name.startsWith(`${noun} `));
    if (noun === 'help') return { kind: 'explain', text: overview };
    const help = ofNoun.length > 0 ? helpOfNoun(noun, ofNoun) : `${typed} --help lists all commands.`;
    if (isHelp && ofNoun.length > 0 && verb === undefined) return { kind: 'explain', text: help };
    const problem =
      verb === undefined && ofNoun.length > 0
        ? `“${noun}” needs a command after it.`
        : `There is no command “${[noun, verb].filter(Boolean).join(' ')}”.${suggestion(noun, verb)}`;
    throw new UsageError(`${problem}\n\n${help}`);
  }
  if (isHelp) return { kind: 'explain', text: helpOf(command) };
  try {
    const { options, json } = readOptions(command, args);
    if (more.length > 0) throw new UsageError(`“${more.join(' ')}” belongs to no option.`);
    checkOptions(command, options);
    return { kind: 'run', command, options, data: options['data'], json };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw explained(command, error);
  }
}

/** The option that a field of a refused command came from: “subscription.state” from `--state`. */
function optionOf(command: Command, field: string): string | undefined {
  const names = new Set(command.options.map(({ name }) => name));
  return field
    .split('.')
    .map((part) => part.replaceAll('_', '-'))
    .findLast((part) => names.has(part));
}

/** The refusal of a service, one line per field, with options in place of field names. */
function refusalOf(command: Command, problem: Problem): string {
  const details = problem.context.errors?.map(({ detail }) => detail) ?? [];
  if (details.length === 0) return problem.message;
  return details
    .map((detail) =>
      detail.replace(/^“([^”]+)” /, (quoted, field: string) => {
        const option = optionOf(command, field);
        return option === undefined ? quoted : `--${option} `;
      }),
    )
    .join('\n');
}

/** Why a command failed: a usage error with its usage, a refusal of a service in plain sentences, anything else as it is. */
export function explainedFailure(command: Command, error: Error): Error {
  if (error instanceof UsageError) return explained(command, error);
  return error instanceof Problem ? new Error(refusalOf(command, error), { cause: error }) : error;
}

/** A usage error with the usage of its command. */
const explained = (command: Command, { message }: UsageError): UsageError =>
  new UsageError(
    `${message}\n\nusage: ${typed} ${usageOf(command)}\n\n${typed} ${command.name} --help explains the options.`,
  );
