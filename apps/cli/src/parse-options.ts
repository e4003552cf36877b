import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '@longwave/service-kit/nearest';
import { UsageError } from './command.ts';

/** `parseArgs` of Node. Throws `UsageError`; for an unknown option it names the known one that is spelt alike. */
export function parseOptions<C extends ParseArgsConfig>(config: C): ReturnType<typeof parseArgs<C>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Node adds advice about positional arguments, which begin with no dash in any command here.
    const message = (error as Error).message.split('. To specify a positional argument')[0]!;
    const unknown = /^Unknown option '--([^'=]+)/.exec(message)?.[1];
    const near = unknown === undefined ? undefined : nearest(unknown, [...Object.keys(config.options ?? {}), 'help']);
    throw new UsageError(near === undefined ? message : `${message}. Did you mean --${near}?`);
  }
}
