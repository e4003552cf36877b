import type { Pool } from '@longwave/postgres';
import type { Columns, Rows } from './generated/rows.ts';

/** A resource that others hang on, with the podcast that it hangs on itself. */
export type ParentRow = Readonly<Columns<'resource', 'id' | 'resource_type' | 'lifecycle_state'>> & {
  readonly podcast_id: Rows['resource']['id'] | null;
  readonly podcast_state: Rows['resource']['lifecycle_state'] | null;
};

/** Resources of these types in a workspace that a resource links to, or that are named by their ids. */
export async function listParents(
  pool: Pool,
  workspaceId: string,
  of: { readonly id: string | undefined; readonly named: readonly string[]; readonly types: readonly string[] },
): Promise<ParentRow[]> {
  const { rows } = await pool.query<ParentRow>({
    name: 'list_parents',
    text: `select r.id, r.resource_type, r.lifecycle_state, p.id as podcast_id, p.lifecycle_state as podcast_state
           from resource r
           left join link l on l.from_id = r.id and l.name = 'podcast'
           left join resource p on p.id = l.to_id and p.workspace_id = $3
           where r.id = any(array(select to_id from link where from_id = $1) || $2::text[])
             and r.workspace_id = $3 and r.resource_type = any($4)`,
    values: [of.id ?? null, of.named, workspaceId, of.types],
  });
  return rows;
}
