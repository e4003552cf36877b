import { parseArgs, type ParseArgsConfig } from 'node:util';
import { z } from 'zod';
import { UsageError } from '../command.ts';
import { readCatalog, typeOf } from './catalog.ts';
import type { ManagementApi } from './management-api.ts';
import { columns } from './table.ts';
import { listWorkspaces, workspaceOf } from './workspace.ts';

/** Reads the words and options after a command; throws `UsageError` unless there are as many words as names. */
export function readWords<O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  names: readonly string[],
  options: O,
) {
  const common = { workspace: { type: 'string' }, data: { type: 'string' } } as const;
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], allowPositionals: true, options: { ...options, ...common } });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. To specify a positional argument')[0]);
  }
  const { positionals } = parsed;
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  if (positionals.length > names.length)
    throw new UsageError(`“${positionals.slice(names.length).join(' ')}” belongs to no option.`);
  return parsed as typeof parsed & { readonly values: { readonly workspace?: string } };
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

const rowSchema = z.looseObject({
  id: z.string(),
  version: z.number(),
  lifecycle_state: z.string(),
  updated_at: z.string(),
  attributes: z.looseObject({}),
});
const pageSchema = z.looseObject({ rows: z.array(rowSchema), next_cursor: z.string().optional() });

/** The name by which people know a resource, if its type has one. */
const nameIn = ({ attributes }: z.infer<typeof rowSchema>): string => {
  const found = ['name', 'legal_name', 'title', 'filename'].map((key) => attributes[key]);
  return found.find((each) => typeof each === 'string') ?? '';
};

/** `manage workspaces` */
export async function showWorkspaces(api: ManagementApi, args: readonly string[]) {
  readWords(args, [], {});
  const found = await listWorkspaces(api);
  if (found.length === 0) return 'You see no workspace yet.';
  return columns(found.map(({ id, name, roles }) => [id, name, roles.join(', ')]));
}

/** `manage types` */
export async function showTypes(api: ManagementApi, args: readonly string[]) {
  readWords(args, [], {});
  const { resource_types: types } = await readCatalog(api);
  return columns(types.map(({ resource_type: type, prefix, states }) => [type, `${prefix}_…`, states.join(', ')]));
}

/** `manage commands [TYPE]` */
export async function showCommands(api: ManagementApi, args: readonly string[]) {
  const { positionals } = readWords(args, args[0]?.startsWith('-') === false ? ['TYPE'] : [], {});
  const { commands, resource_types: types } = await readCatalog(api);
  const [type] = positionals;
  if (type !== undefined && !types.some((each) => each.resource_type === type))
    throw new UsageError(`There is no resource type “${type}”. “manage types” lists them.`);
  const shown = commands.filter(({ subject_type: subject }) => type === undefined || subject === type);
  return columns(shown.map((each) => [each.command_type, each.summary]));
}

/** `manage list TYPE`: a table of one page, or of everything with `--all`. */
export async function list(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['TYPE'], {
    state: { type: 'string' },
    text: { type: 'string' },
    parent: { type: 'string' },
    ids: { type: 'string' },
    'updated-since': { type: 'string' },
    sort: { type: 'string' },
    limit: { type: 'string' },
    all: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const query = new URLSearchParams();
  const { state, text, parent, ids, sort, limit } = values;
  for (const [name, value] of Object.entries({
    state,
    text,
    parent,
    ids,
    sort,
    limit,
    updated_since: values['updated-since'],
  }))
    if (value !== undefined) query.set(name, value);
  const base = `/workspaces/${await workspaceOf(api, values.workspace)}/resources/${encodeURIComponent(positionals[0]!)}`;
  const rows = [];
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) query.set('cursor', cursor);
    const page = pageSchema.parse(await api.ask({ path: `${base}?${query.toString()}` }));
    rows.push(...page.rows);
    cursor = page.next_cursor;
  } while (cursor !== undefined && values.all);
  if (values.json) return json(rows);
  if (rows.length === 0) return 'There are none.';
  const table = columns(
    rows.map((row) => [row.id, `version ${row.version}`, row.lifecycle_state, row.updated_at, nameIn(row)]),
  );
  return cursor === undefined ? table : `${table}\n… and more: --all`;
}

/** Where a resource of this id is. */
async function pathOf(api: ManagementApi, id: string, workspace: string | undefined): Promise<string> {
  const type = typeOf(await readCatalog(api), id);
  return `/workspaces/${await workspaceOf(api, workspace)}/resources/${type}/${id}`;
}

/** `manage get ID` */
export async function get(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['ID'], {});
  return json(await api.ask({ path: await pathOf(api, positionals[0]!, values.workspace) }));
}

const versionsSchema = z.looseObject({
  rows: z.array(
    z.looseObject({
      version: z.number(),
      lifecycle_state: z.string(),
      created_at: z.string(),
      updated_by: z.looseObject({
        operation_id: z.string(),
        service: z.string().optional(),
        process: z.string().optional(),
      }),
      difference: z
        .array(z.looseObject({ op: z.string(), path: z.string(), value: z.unknown().optional() }))
        .optional(),
    }),
  ),
  next_cursor: z.string().optional(),
});

/** Every version of a resource, newest first. */
async function versionsOf(api: ManagementApi, path: string, query: string) {
  const rows = [];
  let cursor: string | undefined;
  do {
    const after: string = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = versionsSchema.parse(await api.ask({ path: `${path}/versions?limit=200${query}${after}` }));
    rows.push(...page.rows);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return rows;
}

/** `manage history ID` */
export async function history(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['ID'], { json: { type: 'boolean' } });
  const rows = await versionsOf(api, await pathOf(api, positionals[0]!, values.workspace), '');
  if (values.json) return json(rows);
  return columns(
    rows.map(({ version, lifecycle_state: state, created_at: at, updated_by: by }) => [
      ...[`version ${version}`, state, at, by.operation_id],
      by.service === undefined ? '' : `by ${by.process ?? by.service}`,
    ]),
  );
}

/** `manage diff ID`: what each version changed, as JSON Patch (RFC 6902), newest first. */
export async function diff(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['ID'], { json: { type: 'boolean' } });
  const rows = await versionsOf(api, await pathOf(api, positionals[0]!, values.workspace), '&difference=true');
  if (values.json) return json(rows.map(({ version, difference }) => ({ version, difference })));
  return rows
    .map(({ version, lifecycle_state: state, created_at: at, difference = [] }) =>
      [
        `version ${version}  ${state}  ${at}`,
        ...difference.map(
          ({ op, path, value }) => `  ${op} ${path}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`,
        ),
      ].join('\n'),
    )
    .join('\n');
}
