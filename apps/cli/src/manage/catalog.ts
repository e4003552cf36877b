import { z } from 'zod';
import { didYouMean, nearest } from '@longwave/service-kit/nearest';
import { UsageError } from '../command.ts';
import type { ManagementApi } from './management-api.ts';

/** The part of JSON Schema (2020-12) that the catalog uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  /** Names one of several forms. */
  readonly title?: string;
  readonly pattern?: string;
  readonly default?: unknown;
  /** Values that a command takes, for people. */
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
}

const jsonSchema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null);

const resourceType = z.object({
  resource_type: z.string(),
  noun: z.string(),
  prefix: z.string(),
  states: z.array(z.string()),
});

const commandSchema = z.object({
  command_type: z.string(),
  subject_type: z.string(),
  /** Null: it creates its subject. */
  from: z.array(z.string()).nullable(),
  to: z.array(z.string()).nullable(),
  changes_schema: jsonSchema,
  mode: z.string(),
  review: z.string(),
  roles: z.array(z.string()),
  version_guard: z.string(),
  external_effect: z.string().nullable(),
  summary: z.string(),
});
export type Command = z.infer<typeof commandSchema>;

const catalogSchema = z.object({ resource_types: z.array(resourceType), commands: z.array(commandSchema) });
export type Catalog = z.infer<typeof catalogSchema>;

/** The types and commands of the installation. */
export const readCatalog = async (api: ManagementApi): Promise<Catalog> =>
  catalogSchema.parse(await api.ask({ path: '/catalog' }));

/** The resource type of an id, by its prefix. Throws `UsageError` for a text that is no id. */
export function typeOf({ resource_types: types }: Catalog, id: string): string {
  const found = types.find(({ prefix }) => id.startsWith(`${prefix}_`));
  if (found) return found.resource_type;
  throw new UsageError(
    isOperationId(id)
      ? `“${id}” is an operation, which has no versions: “manage get ${id}” shows it, “manage watch ${id}” follows it.`
      : `“${id}” is no ID of a resource. “manage types” shows how IDs begin.`,
  );
}

/** Operations are no resources: no list has them, and they have no versions. */
export const isOperationId = (id: string): boolean => id.startsWith('op_');

/** A resource type by its name or by the noun of one. Throws `UsageError` that names the nearest. */
export function resourceTypeOf({ resource_types: types }: Catalog, text: string): string {
  const found = types.find(({ resource_type: type, noun }) => type === text || noun === text);
  if (found) return found.resource_type;
  const names = types.flatMap(({ resource_type: type, noun }) => [type, noun]);
  throw new UsageError(`There is no resource type “${text}”.${didYouMean(text, names)} “manage types” lists them.`);
}

/** The subject of the commands that a text names: a resource type, or operations. Throws `UsageError` that names the nearest. */
export function subjectTypeOf(catalog: Catalog, text: string): string {
  const subjects = catalog.commands.map(({ subject_type: subject }) => subject);
  return subjects.find((each) => each === text || each === `${text}s`) ?? resourceTypeOf(catalog, text);
}

/** A command by its type. Throws `UsageError` that names the commands of the same noun, or the nearest. */
export function commandOf({ commands }: Catalog, type: string): Command {
  const types = commands.map((each) => each.command_type);
  const found = commands.find((each) => each.command_type === type);
  if (found) return found;
  const ofNoun = types.filter((each) => each.startsWith(`${type.split('.')[0]}.`));
  const near = nearest(type, types);
  throw new UsageError(
    [
      `There is no command “${type}”.`,
      ...(near === undefined ? [] : [`Did you mean ${near}?`]),
      ofNoun.length > 0 ? `There are: ${ofNoun.join(', ')}` : '“manage commands” lists them.',
    ].join(' '),
  );
}
