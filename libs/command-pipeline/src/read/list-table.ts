import { nameAttributeOf, sortKeysOf, type ResourceDefinition } from '@longwave/command-catalog';
import { queryPrepared, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { ResourceRow } from '../store/resource-row.ts';
import { resourceColumns } from '../store/resource-table.ts';

/** A whole workspace, or the resources that belong to some of its podcasts. */
export interface Scope {
  readonly workspaceId: string;
  readonly podcastIds?: readonly string[];
}

/** The conditions of a list. */
export interface ListFilter {
  /** An empty list finds nothing. */
  readonly scopes: readonly Scope[] | 'everywhere';
  /** Link name → linked id; the row has all of them. */
  readonly links: Readonly<Record<string, string>>;
  /** The row has a link to it, whatever the link's name. */
  readonly parentId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Empty: any. */
  readonly lifecycleStates: readonly string[];
  readonly updatedSince?: Date | undefined;
  /** Part of the name or title, in letters of either case. */
  readonly text?: string | undefined;
  /** Terminal states of podcasts and episodes: what belongs to one in such a state is left out. */
  readonly hiddenBelow?: { readonly podcasts: readonly string[]; readonly episodes: readonly string[] } | undefined;
}

/** A row with the values that it is sorted by, as text. */
type ListedRow = ResourceRow & { readonly sort_values: readonly string[] };

/** The place of a row in a list: the values that it is sorted by, and its id. */
export interface ListPosition {
  readonly sortValues: readonly string[];
  readonly id: string;
}

/** Rows of one page, and the place up to which the list was read when that is further than its last row. */
export interface ListedPage {
  readonly rows: readonly ListedRow[];
  /** Undefined when the list was read to its end. */
  readonly after: ListPosition | undefined;
}

/** Rows that one page or count with a text filter reads at most: without a bound, a text that nothing contains reads the whole list. */
const maxRowsSearched = 10_000;
/**
 * Rows that a statement reads for a page, the first one of the next page included. The number stands in the text of the statement:
 * a plan for any number would be one for a tenth of the list.
 */
const pageRows = [6, 26, 51, 101, 201];
/** Rows that are counted at most. */
const maxRowsCounted = 1_000_000;
/** Parts of a list (a scope or a state each) that are read in their own order and merged; with more, the parts are one. */
const maxParts = 32;

/** Collects the parameters of a statement. */
interface Parameters {
  readonly values: unknown[];
  /** Adds a value; answers its place, `$3`. */
  readonly add: (value: unknown) => string;
}

function parameters(): Parameters {
  const values: unknown[] = [];
  return { values, add: (value) => `$${values.push(value)}` };
}

const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** SQL expressions that a key sorts by, each with its type and its index in migrations of management. */
function sortExpressions(
  definition: ResourceDefinition,
  key: string,
): readonly (readonly [sql: string, type: string])[] {
  const declared = sortKeysOf(definition);
  if (!Object.hasOwn(declared, key)) {
    const detail = `“sort” must be ${Object.keys(declared).join(', ')}, or one of them with “-” before it.`;
    throw new Problem('validation_failed', detail, { errors: [{ path: '/sort', code: 'invalid_value', detail }] });
  }
  const attribute = declared[key]!;
  if ('at' in attribute)
    return [[`coalesce(instant_of(r.attributes #>> '{${attribute.at.join(',')}}'), 'infinity')`, 'timestamptz']];
  if (key === 'name') return [[`name_of(r.attributes) collate "C"`, 'text']];
  if (key === 'state')
    return [
      ['r.lifecycle_state', 'text'],
      ['r.created_at', 'timestamptz'],
    ];
  return [[key === 'updated_at' ? 'r.updated_at' : 'r.created_at', 'timestamptz']];
}

/** The condition that a row belongs to one of the podcasts; nothing does whose type has no way to a podcast. */
function ofPodcasts({ type, links }: ResourceDefinition, podcastIds: readonly string[], { add }: Parameters): string {
  if (type === 'podcasts') return `r.id = any(${add(podcastIds)}::text[])`;
  const linkTo = (parent: string) => Object.entries(links).find(([, link]) => link.type === parent)?.[0];
  const [toPodcast, toEpisode] = [linkTo('podcasts'), linkTo('episodes')];
  if (toPodcast !== undefined)
    return `r.id in (select from_id from link where name = ${text(toPodcast)} and to_id = any(${add(podcastIds)}::text[]))`;
  if (toEpisode === undefined) return 'false';
  return `r.id in (select e.from_id from link e join link p on p.from_id = e.to_id and p.name = 'podcast'
            where e.name = ${text(toEpisode)} and p.to_id = any(${add(podcastIds)}::text[]))`;
}

/** The condition that neither the podcast nor the episode of a row is in one of the hidden states. */
function belowLiving({ links }: ResourceDefinition, hidden: ListFilter['hiddenBelow'], { add }: Parameters): string[] {
  if (!hidden) return [];
  const parents = (type: string) => Object.entries(links).filter(([, link]) => link.type === type);
  const states = (list: readonly string[]) => `any(${add(list)}::text[])`;
  return [
    ...parents('podcasts').map(
      ([name]) => `not exists (select from link l join resource p on p.id = l.to_id
                     where l.from_id = r.id and l.name = ${text(name)} and p.lifecycle_state = ${states(hidden.podcasts)})`,
    ),
    ...parents('episodes').map(
      ([name]) => `not exists (select from link l join resource e on e.id = l.to_id
                     left join link m on m.from_id = e.id and m.name = 'podcast' left join resource p on p.id = m.to_id
                     where l.from_id = r.id and l.name = ${text(name)}
                       and (e.lifecycle_state = ${states(hidden.episodes)} or p.lifecycle_state = ${states(hidden.podcasts)}))`,
    ),
  ];
}

function inScope(definition: ResourceDefinition, { workspaceId, podcastIds }: Scope, sql: Parameters): string {
  const workspace = `r.workspace_id = ${sql.add(workspaceId)}`;
  return podcastIds === undefined ? workspace : `${workspace} and ${ofPodcasts(definition, podcastIds, sql)}`;
}

/** Conditions on scope and state, one for each part of the list; together they are the whole list. */
function parts(definition: ResourceDefinition, { scopes, lifecycleStates }: ListFilter, sql: Parameters): string[] {
  const places = scopes === 'everywhere' ? ['true'] : scopes.map((scope) => inScope(definition, scope, sql));
  const states = lifecycleStates.map((state) => `r.lifecycle_state = ${sql.add(state)}`);
  if (places.length * Math.max(states.length, 1) > maxParts) {
    const anyState = states.length === 0 ? 'true' : `(${states.join(' or ')})`;
    return [`(${places.map((place) => `(${place})`).join(' or ')}) and ${anyState}`];
  }
  return states.length === 0 ? places : places.flatMap((place) => states.map((state) => `${place} and ${state}`));
}

/** The other conditions of a list, but for the text. */
function conditions(definition: ResourceDefinition, filter: ListFilter, sql: Parameters): string {
  const { links, parentId, ids, updatedSince, hiddenBelow } = filter;
  const { add } = sql;
  return [
    // In the text of the statement, so that indexes of one type serve it.
    `r.resource_type = ${text(definition.type)}`,
    ...Object.entries(links).map(
      ([name, toId]) => `r.id in (select from_id from link where to_id = ${add(toId)} and name = ${add(name)})`,
    ),
    ...(parentId === undefined ? [] : [`r.id in (select from_id from link where to_id = ${add(parentId)})`]),
    ...(ids === undefined ? [] : [`r.id = any(${add(ids)}::text[])`]),
    ...(updatedSince === undefined ? [] : [`r.updated_at >= ${add(updatedSince)}`]),
    ...belowLiving(definition, hiddenBelow, sql),
  ].join(' and ');
}

/** The condition of the text filter. It knows no wildcards. */
function nameContains(definition: ResourceDefinition, filter: ListFilter, { add }: Parameters): string | undefined {
  if (filter.text === undefined) return undefined;
  return `strpos(lower(r.attributes ->> '${nameAttributeOf(definition) ?? 'title'}'), lower(${add(filter.text)})) > 0`;
}

/**
 * A page of a list in the order of a sort key, then of ids; every part is read along its index. With a text filter a page may have fewer
 * rows than asked for, or none, although the list goes on.
 * @param sort a key of `sortKeysOf`, with `-` before it for the other direction. Throws `validation_failed` for another
 */
export async function readPage(
  pool: Pool,
  definition: ResourceDefinition,
  filter: ListFilter,
  { sort, after, limit }: { readonly sort: string; readonly after: ListPosition | undefined; readonly limit: number },
): Promise<ListedPage> {
  const [direction, beyond] = sort.startsWith('-') ? (['desc', '<'] as const) : (['asc', '>'] as const);
  const keys = sortExpressions(definition, sort.replace(/^-/, ''));
  if (after && after.sortValues.length !== keys.length) throw new Problem('invalid_cursor');
  const sql = parameters();
  const common = conditions(definition, filter, sql);
  const place = after
    ? ` and (${keys.map(([key]) => key).join(', ')}, r.id) ${beyond} (${keys
        .map(([, type], i) => `${sql.add(after.sortValues[i])}::${type}`)
        .join(', ')}, ${sql.add(after.id)})`
    : '';
  const matches = nameContains(definition, filter, sql);
  const rowsRead = matches === undefined ? pageRows.find((rows) => rows > limit)! : maxRowsSearched + 1;
  const sorted = keys.map(([key], i) => `${key} as sort_${i}`).join(', ');
  const shown = matches === undefined ? resourceColumns.replace(/\w+/g, 'r.$&') : `r.id, ${matches} as matches`;
  const order = (names: readonly string[]) => names.map((name) => `${name} ${direction}`).join(', ');
  const merged = order([...keys.map((_, i) => `sort_${i}`), 'id']);
  const read = parts(definition, filter, sql)
    .map(
      (part) => `(select ${shown}, ${sorted} from resource r where ${part} and ${common}${place}
                  order by ${order([...keys.map(([key]) => key), 'r.id'])} limit ${rowsRead})`,
    )
    .join('\nunion all\n');
  const sortValues = `array[${keys.map((_, i) => `sort_${i}::text`).join(', ')}] as sort_values`;

  if (matches === undefined) {
    const page = `select ${resourceColumns}, ${sortValues} from (${read}) m order by ${merged} limit ${rowsRead}`;
    const rows = await runPage(pool, page, sql.values, { isPlannedAgain: after !== undefined && hasParent(filter) });
    return pageOf(rows, limit, undefined);
  }
  const { rows } = await pool.query<
    { readonly read_to: ListPosition | null; readonly rows_read: number } & {
      readonly [C in keyof ListedRow]: ListedRow[C] | null;
    }
  >(
    `with searched as materialized (
       select *, ${sortValues}, row_number() over (order by ${merged}) as nr from (${read}) m order by nr limit ${rowsRead}
     ), found as (
       select s.nr, s.sort_values, ${resourceColumns.replace(/\w+/g, 'r.$&')} from searched s join resource r on r.id = s.id
       where s.matches and s.nr < ${rowsRead} order by s.nr limit ${sql.add(limit + 1)}
     )
     select edge.*, found.* from (
       select count(*)::int as rows_read, (array_agg(json_build_object('id', id, 'sortValues', sort_values) order by nr desc)
         filter (where nr < ${rowsRead}))[1] as read_to from searched
     ) edge left join found on true order by found.nr`,
    sql.values,
  );
  const { rows_read: read_, read_to: readTo } = rows[0]!;
  return pageOf(
    rows.filter((row): row is typeof row & ListedRow => row.id !== null),
    limit,
    read_ > maxRowsSearched && readTo !== null ? readTo : undefined,
  );
}

/**
 * Reads a page without a text filter by a statement that stays prepared, unless it is planned again: few rows that link to something are
 * best read alone, many in the order of the list, and a prepared plan is one for an average number.
 */
async function runPage(
  pool: Pool,
  text: string,
  values: unknown[],
  { isPlannedAgain }: { readonly isPlannedAgain: boolean },
): Promise<readonly ListedRow[]> {
  const { rows } = await (isPlannedAgain
    ? pool.query<ListedRow>(text, values)
    : queryPrepared<ListedRow>(pool, text, values));
  return rows;
}

/** Whether the rows of a list are those that link to something. */
const hasParent = ({ links, parentId }: ListFilter): boolean => parentId !== undefined || Object.keys(links).length > 0;

/** Cuts a page off the rows; `readTo` is where the search stopped before the end of the list. */
function pageOf(rows: readonly ListedRow[], limit: number, readTo: ListPosition | undefined): ListedPage {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length > limit && last) return { rows: page, after: { sortValues: last.sort_values, id: last.id } };
  return { rows: page, after: readTo };
}

/** The number of rows of a list; not exact when the list is longer than may be counted, or searched with a text filter. */
export async function countRows(
  pool: Pool,
  definition: ResourceDefinition,
  filter: ListFilter,
): Promise<{ readonly count: number; readonly exact: boolean }> {
  const sql = parameters();
  const common = conditions(definition, filter, sql);
  const matches = nameContains(definition, filter, sql);
  const max = matches === undefined ? maxRowsCounted : maxRowsSearched;
  const places = parts(definition, filter, sql).map((part) => `(${part})`);
  const { rows } = await queryPrepared<{ readonly count: number; readonly rows_read: number }>(
    pool,
    `select count(*) filter (where matches)::int as count, count(*)::int as rows_read from (
       select ${matches ?? 'true'} as matches from resource r where (${places.join(' or ')}) and ${common} limit ${sql.add(max + 1)}
     ) counted`,
    sql.values,
  );
  const { count, rows_read: rowsRead } = rows[0]!;
  return { count: Math.min(count, max), exact: rowsRead <= max };
}
