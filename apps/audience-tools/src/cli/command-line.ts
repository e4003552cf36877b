import { parseArgs, type ParseArgsConfig } from 'node:util';
import { didYouMean, nearest } from '@longwave/service-kit/nearest';

/**
 * Exit codes, as of every command of `longwave`: success; the numbers differ (or records are malformed under --strict), or it failed; the
 * command line is wrong.
 */
export const exitCodes = { done: 0, differs: 1, failed: 1, usage: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command line is invalid; the message says what to type. */
export class UsageError extends Error {}

/** The settings of a command and its output. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes results. */
  readonly print: (text: string) => void;
  /** Writes progress, warnings and errors. */
  readonly tell: (text: string) => void;
  readonly now: () => Date;
}

type Options = NonNullable<ParseArgsConfig['options']>;
/** The value of each option that was typed. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

export interface Command {
  /** '' when the tool has one command alone. */
  readonly name: string;
  /** The whole help text. */
  readonly help: string;
  readonly options: Options;
  readonly run: (values: Values, files: readonly string[], terminal: Terminal) => Promise<ExitCode>;
}

/** A text option, or undefined. */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A required text option. Throws `UsageError`. */
export function needed(values: Values, name: string): string {
  const value = textOf(values, name);
  if (value === undefined) throw new UsageError(`--${name} is missing.`);
  return value;
}

/** A time option: a UTC date, or an RFC 3339 time at a whole UTC hour. Throws `UsageError`. */
export function hourOf(values: Values, name: string): Date | undefined {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  const at = new Date(text);
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  if (!isTime || Number.isNaN(at.getTime()) || at.getTime() % 3_600_000 !== 0)
    throw new UsageError(
      `--${name} must be a UTC date (2026-11-01) or a whole hour (2026-11-01T13:00:00Z), not ${text}.`,
    );
  return at;
}

/** Without Node's advice about positional arguments, which begin with no dash here. */
const messageOf = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('. To specify a positional argument')[0]!;

/** The option that was perhaps meant by an unknown one, as a sentence. */
function suggestion(error: unknown, { options }: Command): string {
  const unknown = /^Unknown option '--([^'=]+)/.exec(messageOf(error))?.[1];
  const near = unknown === undefined ? undefined : nearest(unknown, [...Object.keys(options), 'help']);
  return near === undefined ? '' : ` Did you mean --${near}?`;
}

/** Runs a command of a tool and answers its exit code; an error becomes a message that says what to do. */
export async function runCommandLine(
  commands: readonly [Command, ...Command[]],
  overview: string,
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const isOne = commands.length === 1 && commands[0].name === '';
  const [name, ...rest] = isOne ? ['', ...args] : args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.print(`${overview}\n`);
    return name === undefined ? exitCodes.usage : exitCodes.done;
  }
  const command = commands.find((one) => one.name === name);
  if (!command) {
    const names = commands.map((one) => one.name);
    terminal.tell(`There is no command “${name}”.${didYouMean(name, names)}\n\n${overview}\n`);
    return exitCodes.usage;
  }
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      allowPositionals: true,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help) {
      terminal.print(`${command.help}\n`);
      return exitCodes.done;
    }
    return await command.run(values, positionals, terminal);
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
    terminal.tell(
      `${messageOf(error)}${suggestion(error, command)}${isUsage ? '\nRun it with --help to see how it is used.' : ''}\n`,
    );
    return isUsage ? exitCodes.usage : exitCodes.failed;
  }
}

/** Runs a tool with the arguments, environment and output of this process. */
export async function runProgram(commands: readonly [Command, ...Command[]], overview: string): Promise<void> {
  // `exit` removes temporary files; the signals alone would not.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(exitCodes.failed));
  process.exitCode = await runCommandLine(commands, overview, process.argv.slice(2), {
    environment: process.env,
    print: (text) => process.stdout.write(text),
    tell: (text) => process.stderr.write(text),
    now: () => new Date(),
  });
}
