import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { resourceColumns } from '../store/resource-table.ts';
import type { LinkName, ResourceRow } from '../store/resource-row.ts';

type Queryable = Pick<Pool, 'query'> | Transaction;

/** A resource of a workspace, or undefined when there is none. */
export async function findResource<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  id: string,
): Promise<ResourceRow<T> | undefined> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'find_resource',
    text: `select ${resourceColumns} from resource where id = $1 and workspace_id = $2 and resource_type = $3`,
    values: [id, workspaceId, type],
  });
  return rows[0];
}

/** A resource of any workspace, or undefined when there is none. The caller checks that it may be seen. */
export async function findAnywhere<T extends string>(
  db: Queryable,
  type: T,
  id: string,
): Promise<ResourceRow<T> | undefined> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'find_anywhere',
    text: `select ${resourceColumns} from resource where id = $1 and resource_type = $2`,
    values: [id, type],
  });
  return rows[0];
}

/** The id that a resource's link points at, or undefined when it has no such link. */
export async function findLink(db: Queryable, fromId: string, name: string): Promise<string | undefined> {
  const { rows } = await db.query<Columns<'link', 'to_id'>>({
    name: 'find_link',
    text: 'select to_id from link where from_id = $1 and name = $2',
    values: [fromId, name],
  });
  return rows[0]?.to_id;
}

/**
 * Resources of a type that link to `toId` by the link `name`, oldest first.
 * @param states only those in one of them; default: in any
 */
export async function listLinked<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  name: LinkName<T>,
  toId: string,
  states?: readonly string[],
): Promise<ResourceRow<T>[]> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'list_linked',
    text: `select ${resourceColumns.replace(/\w+/g, 'r.$&')} from link l join resource r on r.id = l.from_id
           where l.to_id = $1 and l.name = $2 and r.workspace_id = $3 and r.resource_type = $4
             and ($5::text[] is null or r.lifecycle_state = any($5)) order by r.created_at, r.id`,
    values: [toId, name, workspaceId, type, states ?? null],
  });
  return rows;
}

/** Resources of a type in one of the states, oldest first. */
export async function listInStates<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  states: readonly string[],
): Promise<ResourceRow<T>[]> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'list_in_states',
    text: `select ${resourceColumns} from resource where workspace_id = $1 and resource_type = $2 and lifecycle_state = any($3) order by created_at, id`,
    values: [workspaceId, type, states],
  });
  return rows;
}

/** Those of the ids that are resources of this type in the workspace. */
export async function listByIds<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  ids: readonly string[],
): Promise<ResourceRow<T>[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'list_by_ids',
    text: `select ${resourceColumns} from resource where id = any($1) and workspace_id = $2 and resource_type = $3 order by id`,
    values: [ids, workspaceId, type],
  });
  return rows;
}
