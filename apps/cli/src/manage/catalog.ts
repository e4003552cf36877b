import { z } from 'zod';
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
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
}

const jsonSchema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null);

const resourceType = z.object({
  resource_type: z.string(),
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
type Catalog = z.infer<typeof catalogSchema>;

/** The types and commands of the installation. */
export const readCatalog = async (api: ManagementApi): Promise<Catalog> =>
  catalogSchema.parse(await api.ask({ path: '/catalog' }));

/** The resource type of an id, by its prefix. Throws `UsageError` for a text that is no id. */
export function typeOf({ resource_types: types }: Catalog, id: string): string {
  const found = types.find(({ prefix }) => id.startsWith(`${prefix}_`));
  if (!found) throw new UsageError(`“${id}” is no ID of a resource.`);
  return found.resource_type;
}

/** A command by its type. Throws `UsageError` that names the commands of the same noun. */
export function commandOf({ commands }: Catalog, type: string): Command {
  const found = commands.find((each) => each.command_type === type);
  if (found) return found;
  const noun = `${type.split('.')[0]}.`;
  const near = commands.map((each) => each.command_type).filter((each) => each.startsWith(noun));
  throw new UsageError(
    `There is no command “${type}”. ${near.length > 0 ? `There are: ${near.join(', ')}` : '“manage commands” lists them.'}`,
  );
}
