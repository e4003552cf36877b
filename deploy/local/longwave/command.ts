import type { FleetAccess } from '@longwave/fleet';
import type { Operator } from '../job/operator.ts';

/** Options of `npm run longwave`, as they were typed. */
export type Options = Readonly<Record<string, string | undefined>>;

/** One command of the operator: `noun verb`. What it answers is printed as JSON. */
export interface OperatorCommand {
  /** "account create" */
  readonly name: string;
  /** Its options as the help shows them: "--account ACC --scope read|read_write". */
  readonly usage: string;
  /** One line of the help. */
  readonly summary: string;
  readonly run: (operator: Operator, options: Options, fleet: FleetAccess) => Promise<unknown>;
}

/** A usage that was not followed: exit code 64, with the usage. */
export class UsageError extends Error {}

/** An option that the command cannot do without. Throws `UsageError`. */
export function needed(options: Options, name: string): string {
  const value = options[name];
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing.`);
  return value;
}
