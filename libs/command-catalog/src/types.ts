import type { z } from 'zod';
import type { Catalog } from './catalog.ts';

/** Command types of a catalog. */
export type CommandType<K extends Catalog> = keyof K['commands'] & string;

/** Commands that need a rule of their own. */
export type RuledCommandType<K extends Catalog> = {
  [C in CommandType<K>]: K['commands'][C]['ruled'] extends true ? C : never;
}[CommandType<K>];

/** Parsed changes of a command. */
export type ChangesOf<K extends Catalog, C extends CommandType<K>> = z.output<K['commands'][C]['changes']>;

/** Attributes of the command's subject. */
export type AttributesOf<
  K extends Catalog,
  C extends CommandType<K>,
> = K['commands'][C]['subject'] extends keyof K['resources']
  ? z.output<K['resources'][K['commands'][C]['subject']]['attributes']>
  : never;
