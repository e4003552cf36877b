import type { ParseArgsConfig } from 'node:util';
import { UsageError } from '../command.ts';
import { parseOptions } from '../parse-options.ts';

/** Reads the words and options after a command; throws `UsageError` unless there are as many words as names. */
export function readWords<O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  names: readonly string[],
  options: O,
) {
  const common = { workspace: { type: 'string' }, data: { type: 'string' }, json: { type: 'boolean' } } as const;
  const parsed = parseOptions({ args: [...args], allowPositionals: true, options: { ...options, ...common } });
  const { positionals } = parsed;
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  if (positionals.length > names.length)
    throw new UsageError(`“${positionals.slice(names.length).join(' ')}” belongs to no option.`);
  return parsed as typeof parsed & { readonly values: { readonly workspace?: string; readonly json?: boolean } };
}

/** The query of a path: what was given, under its names. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const given = Object.entries(values).filter((each): each is [string, string] => each[1] !== undefined);
  return new URLSearchParams(given);
}
