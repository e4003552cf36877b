import type { ParseArgsConfig } from 'node:util';
import { UsageError } from '../command.ts';
import type { OptionValues } from '../checks/run-operations.ts';
import { parseOptions } from '../parse-options.ts';
import { signInApis, type SignInApi } from './session-file.ts';

/** The API that `--for` names; MCP when it is absent. Throws `UsageError`. */
export function readApi(text: string | undefined): SignInApi {
  const api = signInApis.find((each) => each === (text ?? 'mcp'));
  if (!api) throw new UsageError(`--for: “${text}” is neither of ${signInApis.join(', ')}.`);
  return api;
}

/** Help of the programs that take the data folder as every command does. */
export const ignoredData =
  '  --data FOLDER  optional: without effect, because the sign-in says which installation it belongs to\n  --json         optional: print one JSON document';

/** Options of one of the programs here, and those that all have: --json and --help. Throws `UsageError` with its usage. */
export function readOptions<O extends NonNullable<ParseArgsConfig['options']>>(usage: string, options: O) {
  try {
    return parseOptions({ options: { ...options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } })
      .values as OptionValues<O & { json: { type: 'boolean' }; help: { type: 'boolean' } }>;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\nusage: ${usage}`);
  }
}

/** Ends the process with what went wrong: 2 for a wrong command line, else 1. */
export function fail(error: unknown): void {
  console.error((error as Error).message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
