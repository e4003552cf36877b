import type { Pool } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';
import type { ResourceRow } from '../store/resource-row.ts';
import { resourceColumns } from '../store/resource-table.ts';

/** A resource to which others belong, with the podcast that it belongs to itself. */
export type ParentRow = Readonly<Columns<'resource', 'id' | 'resource_type' | 'lifecycle_state'>> & {
  readonly podcast_id: Rows['resource']['id'] | null;
  readonly podcast_state: Rows['resource']['lifecycle_state'] | null;
};

const parentColumns =
  'r.id, r.resource_type, r.lifecycle_state, p.id as podcast_id, p.lifecycle_state as podcast_state';
/** Parents `r` in a workspace, each with its podcast `p` there. */
const parentsIn = (workspace: string) => `resource r
           left join link l on l.from_id = r.id and l.name = 'podcast'
           left join resource p on p.id = l.to_id and p.workspace_id = ${workspace}
           where r.workspace_id = ${workspace}`;

/** Resources of these types in a workspace, by their ids. */
export async function listParents(
  pool: Pool,
  workspaceId: string,
  { ids, types }: { readonly ids: readonly string[]; readonly types: readonly string[] },
): Promise<ParentRow[]> {
  const { rows } = await pool.query<ParentRow>({
    name: 'list_parents',
    text: `select ${parentColumns} from ${parentsIn('$1')} and r.id = any($2) and r.resource_type = any($3)`,
    values: [workspaceId, ids, types],
  });
  return rows;
}

/**
 * A resource with the resources of these types that it links to in its workspace; undefined when there is no such resource. Without a
 * workspace it searches all of them: the caller checks that the resource may be seen.
 */
export async function findWithParents(
  pool: Pool,
  workspaceId: string | undefined,
  { type, id }: { readonly type: string; readonly id: string },
  types: readonly string[],
): Promise<{ readonly row: ResourceRow; readonly parents: readonly ParentRow[] } | undefined> {
  const { rows } = await pool.query<ResourceRow & { readonly parents: readonly ParentRow[] }>({
    name: 'find_with_parents',
    text: `select ${resourceColumns}, coalesce((
             select json_agg(parent) from (
               select ${parentColumns} from ${parentsIn('s.workspace_id')}
                 and r.id in (select to_id from link where from_id = s.id) and r.resource_type = any($4)
             ) as parent
           ), '[]') as parents
           from resource s where id = $1 and resource_type = $2 and ($3::text is null or workspace_id = $3)`,
    values: [id, type, workspaceId, types],
  });
  if (!rows[0]) return undefined;
  const { parents, ...row } = rows[0];
  return { row, parents };
}
