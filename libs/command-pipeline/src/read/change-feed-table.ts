import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { ResourceRow } from '../store/resource-row.ts';
import type { ListFilter, Scope } from './list-table.ts';

/** Whose changes are read, and which of them. */
export interface ChangeFilter {
  readonly scope: Scope;
  /** Terminal states of podcasts and episodes: what belongs to one of them changes unseen once it has come to such a state. */
  readonly hiddenBelow?: ListFilter['hiddenBelow'];
  /** Changes of resources of these types are left out. */
  readonly hiddenTypes?: readonly string[] | undefined;
  /** Only changes of resources of these types. */
  readonly types?: readonly string[] | undefined;
}

/** The place of a change in the order of commits. */
export interface ChangePlace {
  readonly seq: number;
  readonly position: number;
}

/** A place before every change. */
export const beforeChanges: ChangePlace = { seq: -1, position: -1 };

/** A row of table `change` with its revision, which a notice does not have. */
export type ChangeRow = Readonly<
  Columns<
    'change',
    | 'seq'
    | 'position'
    | 'kind'
    | 'resource_type'
    | 'resource_id'
    | 'version'
    | 'event_type'
    | 'operation_id'
    | 'detail'
    | 'occurred_at'
  >
> & {
  readonly [C in 'lifecycle_state' | 'attributes' | 'digest' | 'created_at' | 'updated_at']: ResourceRow[C] | null;
};

/** Rows that one page reads at most when many of them may be left out. */
const maxRowsSearched = 2_000;
/** Rows that a page reads beyond its limit where few are left out: those that came after the end of a podcast or episode. */
const spareRows = 50;

/** The place of the newest change of a workspace. */
export async function findNewestChange(pool: Pool, workspaceId: string): Promise<ChangePlace> {
  const { rows } = await pool.query<ChangePlace>({
    name: 'find_newest_change',
    text: 'select seq, position from change where workspace_id = $1 order by seq desc, position desc limit 1',
    values: [workspaceId],
  });
  return rows[0] ?? beforeChanges;
}

/** Resources of some types that changed after a place in a workspace's chain. */
export interface ChangedSince {
  /** The place of the newest change of the workspace, of any type; -1 before the first. */
  readonly seq: number;
  /** Each once, at most `limit`. */
  readonly changed: readonly Readonly<Columns<'change', 'resource_type' | 'resource_id'>>[];
}

/**
 * What changed in a workspace after a place, as the transaction sees it: nothing is ever added at or before `seq`, because a command takes
 * its place when all before it are committed.
 */
export async function listChangedSince(
  tx: Transaction,
  workspaceId: string,
  { after, types, limit }: { readonly after: number; readonly types: readonly string[]; readonly limit: number },
): Promise<ChangedSince> {
  const { rows: newest } = await tx.query<Columns<'change', 'seq'>>({
    name: 'find_newest_seq',
    text: 'select seq from change where workspace_id = $1 order by seq desc limit 1',
    values: [workspaceId],
  });
  const seq = newest[0]?.seq ?? -1;
  if (seq <= after) return { seq, changed: [] };
  const { rows } = await tx.query<Columns<'change', 'resource_type' | 'resource_id'>>({
    name: 'list_changed_since',
    text: `select distinct resource_type, resource_id from change
           where workspace_id = $1 and seq > $2 and resource_type = any($3) limit $4`,
    values: [workspaceId, after, types, limit],
  });
  return { seq, changed: rows };
}

/** The places of the newest changes of workspaces, as texts to compare; a workspace without a change is missing. */
export async function listNewestChanges(
  pool: Pool,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ readonly workspace_id: string; readonly place: string }>({
    name: 'list_newest_changes',
    text: `select w.id as workspace_id, c.place from unnest($1::text[]) w (id) cross join lateral (
             select seq || '.' || position as place from change where workspace_id = w.id
             order by seq desc, position desc limit 1) c`,
    values: [workspaceIds],
  });
  return new Map(rows.map(({ workspace_id: id, place }) => [id, place]));
}

/** The end of a podcast or episode, below which a change `s` was made later; `$8` and `$9` are their terminal states. */
const endBefore = `select from (
    select p.id, case p.resource_type when 'podcasts' then $8::text[] else $9::text[] end as end_states
    from link l join resource p on p.id = l.to_id and p.resource_type in ('podcasts', 'episodes')
    where l.from_id = s.resource_id and p.lifecycle_state = any($8 || $9)
    union all
    select p.id, $8 from link l join resource e on e.id = l.to_id and e.resource_type = 'episodes'
      join link m on m.from_id = e.id and m.name = 'podcast' join resource p on p.id = m.to_id
    where l.from_id = s.resource_id and p.lifecycle_state = any($8)
  ) parent join lateral (
    select operation_id from revision ended
    where ended.resource_id = parent.id and ended.lifecycle_state = any(parent.end_states) order by version limit 1
  ) ended on true join operation o on o.id = ended.operation_id join receipt t on t.id = o.receipt_id
  where t.seq < s.seq`;

/**
 * Changes after a place, in the order of commits, at most `limit`; a place that was read is never added to later. `to` is the place up to
 * which the changes were read, and `more` tells whether there may be another one after it.
 */
export async function readChanges(
  pool: Pool,
  { scope: { workspaceId, podcastIds }, hiddenBelow, hiddenTypes = [], types }: ChangeFilter,
  { after, limit }: { readonly after: ChangePlace; readonly limit: number },
): Promise<{ readonly rows: readonly ChangeRow[]; readonly to: ChangePlace; readonly more: boolean }> {
  const isFiltered = types !== undefined || podcastIds !== undefined || hiddenTypes.length > 0;
  const searched = isFiltered ? maxRowsSearched : limit + spareRows;
  const { rows } = await pool.query<
    { readonly rows_read: number; readonly to_seq: number | null; readonly to_position: number | null } & {
      readonly [C in keyof ChangeRow]: ChangeRow[C] | null;
    }
  >({
    name: 'read_changes',
    text: `with searched as materialized (
             select seq, position, kind, resource_type, resource_id, version, event_type, operation_id, detail, occurred_at
             from change where workspace_id = $1 and (seq, position) > ($2::int, $3::int) order by seq, position limit $4::int
           ), found as (
             select s.*, v.lifecycle_state, v.attributes, v.digest, r.created_at, v.created_at as updated_at
             from searched s left join resource r on r.id = s.resource_id and r.workspace_id = $1
               left join revision v on v.resource_id = s.resource_id and v.version = s.version
             where ($6::text[] is null or s.resource_type = any($6)) and s.resource_type <> all($10::text[])
               and ($7::text[] is null or s.resource_id = any($7) or exists (
                 select from link l left join resource e on e.id = l.to_id and e.resource_type = 'episodes'
                   left join link m on m.from_id = e.id and m.name = 'podcast'
                 where l.from_id = s.resource_id and (l.to_id = any($7) or m.to_id = any($7))))
               and not exists (${endBefore})
             order by s.seq, s.position limit $5::int
           )
           select edge.*, found.* from (
             select count(*)::int as rows_read, (array_agg(seq order by seq desc, position desc))[1] as to_seq,
               (array_agg(position order by seq desc, position desc))[1] as to_position from searched
           ) edge left join found on true order by found.seq, found.position`,
    values: [
      workspaceId,
      after.seq,
      after.position,
      searched,
      limit + 1,
      types ?? null,
      podcastIds ?? null,
      hiddenBelow?.podcasts ?? [],
      hiddenBelow?.episodes ?? [],
      hiddenTypes,
    ],
  });
  const { rows_read: rowsRead, to_seq: seq, to_position: position } = rows[0]!;
  const found = rows.filter((row): row is typeof row & ChangeRow => row.seq !== null);
  const page = found.slice(0, limit);
  if (found.length > limit) return { rows: page, to: page.at(-1)!, more: true };
  const to = seq === null || position === null ? after : { seq, position };
  return { rows: page, to, more: rowsRead === searched };
}
