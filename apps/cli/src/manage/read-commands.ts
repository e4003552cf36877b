import { z } from 'zod';
import { amountsIn } from './amounts.ts';
import { isOperationId, readCatalog, resourceTypeOf, subjectTypeOf, typeOf } from './catalog.ts';
import type { ManagementApi } from './management-api.ts';
import { readPages } from './pages.ts';
import { columns } from './table.ts';
import { queryOf, readWords } from './words.ts';
import { listWorkspaces, workspaceOf } from './workspace.ts';

const json = (value: unknown) => JSON.stringify(value, null, 2);

const rowSchema = z.looseObject({
  id: z.string(),
  version: z.number(),
  lifecycle_state: z.string(),
  updated_at: z.string(),
  attributes: z.looseObject({}),
});

/** Tells a resource without a name from others of its type, by its number, kind, time, subject and quantity. */
const marks = ['number', 'kind', 'period', 'window', 'campaign_id', 'for_line_item', 'units'] as const;

const timesSchema = z.object({ start: z.string(), end: z.string() });

function markText(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  const { data: times } = timesSchema.safeParse(value);
  return times ? [`${times.start.slice(0, 10)} to ${times.end.slice(0, 10)}`] : [];
}

/** The name by which people know a resource; without one, what tells it from others of its type. */
const nameIn = ({ attributes }: z.infer<typeof rowSchema>): string => {
  const found = ['name', 'legal_name', 'title', 'filename'].map((key) => attributes[key]);
  return found.find((each) => typeof each === 'string') ?? marks.flatMap((key) => markText(attributes[key])).join('  ');
};

/** `manage workspaces` */
export async function showWorkspaces(api: ManagementApi, args: readonly string[]) {
  const { values } = readWords(args, [], {});
  const found = await listWorkspaces(api);
  if (values.json) return json(found);
  if (found.length === 0) return 'You see no workspace yet.';
  return columns(found.map(({ id, name, roles }) => [id, name, roles.join(', ')]));
}

/** `manage types` */
export async function showTypes(api: ManagementApi, args: readonly string[]) {
  const { values } = readWords(args, [], {});
  const { resource_types: types } = await readCatalog(api);
  if (values.json) return json(types);
  return columns(types.map(({ resource_type: type, prefix, states }) => [type, `${prefix}_…`, states.join(', ')]));
}

/** `manage commands [TYPE]` */
export async function showCommands(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, args[0]?.startsWith('-') === false ? ['TYPE'] : [], {});
  const catalog = await readCatalog(api);
  const type = positionals[0] === undefined ? undefined : subjectTypeOf(catalog, positionals[0]);
  const shown = catalog.commands.filter(({ subject_type: subject }) => type === undefined || subject === type);
  if (values.json) return json(shown);
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
  const { state, text, parent, ids, sort, limit } = values;
  const query = queryOf({ state, text, parent, ids, sort, limit, updated_since: values['updated-since'] });
  const type = resourceTypeOf(await readCatalog(api), positionals[0]!);
  const base = `/workspaces/${await workspaceOf(api, values.workspace)}/resources/${type}`;
  const { rows, hasMore } = await readPages(api, { path: base, query, row: rowSchema, all: values.all });
  if (values.json) return json(rows);
  if (rows.length === 0) return 'There are none.';
  const table = columns(
    rows.map((row) => [
      ...[row.id, `version ${row.version}`, row.lifecycle_state, row.updated_at, nameIn(row)],
      amountsIn(row.attributes),
    ]),
  );
  return hasMore ? `${table}\n… and more: --all` : table;
}

/** Where a resource of this id is. */
async function pathOf(api: ManagementApi, id: string, workspace: string | undefined): Promise<string> {
  const type = typeOf(await readCatalog(api), id);
  return `/workspaces/${await workspaceOf(api, workspace)}/resources/${type}/${id}`;
}

/** Where an operation or a receipt is; undefined for the ID of a resource. */
function recordPath(id: string): string | undefined {
  if (isOperationId(id)) return `operations/${encodeURIComponent(id)}`;
  return id.startsWith('rcp_') ? `receipts/${encodeURIComponent(id)}` : undefined;
}

/** `manage get ID`: a resource, an operation or a receipt. */
export async function get(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['ID'], {});
  const id = positionals[0]!;
  const record = recordPath(id);
  const path =
    record === undefined
      ? await pathOf(api, id, values.workspace)
      : `/workspaces/${await workspaceOf(api, values.workspace)}/${record}`;
  return json(await api.ask({ path }));
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
