import type { ParseArgsConfig } from 'node:util';
import { UsageError } from '../command.ts';
import { parseOptions } from '../parse-options.ts';

type OptionTypes = NonNullable<ParseArgsConfig['options']>;

/** The values of a program's options, by name. */
export type OptionValues<O extends OptionTypes> = {
  readonly [N in keyof O]?: O[N]['type'] extends 'boolean' ? boolean : string;
};

/**
 * Runs a program with the arguments of this process and sets its exit code: what `run` answers, 2 when the command line is wrong, 1 when
 * it fails. Messages go to standard error.
 * @param program.usage the whole help text
 */
export async function runOperations<O extends OptionTypes>(
  program: { readonly usage: string; readonly options: O },
  run: (values: OptionValues<O>, words: readonly string[]) => Promise<number>,
): Promise<void> {
  try {
    const options: OptionTypes = { ...program.options, help: { type: 'boolean', short: 'h' } };
    const { values, positionals } = parseOptions({ allowPositionals: true, options });
    if (values['help']) return console.log(`usage: ${program.usage}`);
    process.exitCode = await run(values as OptionValues<O>, positionals);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const first = program.usage.split('\n\n', 1)[0];
    console.error(
      isUsage ? `${error.message}\n\nusage: ${first}\n--help explains the options.` : (error as Error).message,
    );
    process.exitCode = isUsage ? 2 : 1;
  }
}

/** Refuses words that belong to no option. Throws `UsageError`. */
export function assertNoWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`“${words.join(' ')}” belongs to no option.`);
}
