import type { FleetAccess } from '@longwave/fleet/running';
import type { Operator } from '@longwave/test-kit/clients';

/** How this program was called: npm names the script that it runs. */
export const typed = process.env['npm_lifecycle_event'] === 'longwave' ? 'npm run longwave --' : 'npx longwave';

/** Options of a command, as they were typed. */
export type Options = Readonly<Record<string, string | undefined>>;

/** One option of a command: `--name VALUE`. */
export interface CommandOption {
  readonly name: string;
  /** The placeholder of the value in the usage: "ACC", or the values there are: "read|read_write". */
  readonly value: string;
  /** The value in plain words, with the default where there is one. */
  readonly meaning: string;
  /** The value is an ID with this prefix, or several of them, separated by commas. */
  readonly idPrefix?: string;
  /** A command runs without its optional options. */
  readonly optional?: true;
  /** An empty value is refused unless it has a meaning of its own. */
  readonly mayBeEmpty?: true;
}

/** How a command is typed. Usage, help and the reading of the command line are derived from it. */
export interface CommandDescription {
  /** `noun verb`: "account create" */
  readonly name: string;
  /** Its effect, in one sentence. */
  readonly summary: string;
  readonly options: readonly CommandOption[];
  /** A command line that works, without `npx longwave`. */
  readonly example: string;
}

/** One command of the operator. Its answer is printed as JSON, or as lines where it has some and `--json` is not typed. */
export interface OperatorCommand extends CommandDescription {
  readonly run: (operator: Operator, options: Options, fleet: FleetAccess) => Promise<unknown>;
  /** The lines that people read. @param result what `run` answered */
  readonly linesOf?: (result: unknown) => readonly string[];
}

/** The command line is wrong: exit code 2, with the usage. */
export class UsageError extends Error {}

/** An option that the command cannot do without. Throws `UsageError`. */
export function needed(options: Options, name: string): string {
  const value = options[name];
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing.`);
  return value;
}

/** Options that several commands have. */
export const accountOption: CommandOption = {
  name: 'account',
  value: 'ACC',
  idPrefix: 'acc',
  meaning: 'ID of the account (acc_…), as “account list” shows it',
};
export const workspaceOption: CommandOption = {
  name: 'workspace',
  value: 'WS',
  idPrefix: 'ws',
  meaning: 'ID of the workspace (ws_…), as “account list” shows it',
};
