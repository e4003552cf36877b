import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { LinkName, ResourceRow, StoredAttributes } from '../store/resource-row.ts';

/** The attributes of a version of a resource and the time of its revision; undefined when there is no such version. */
export async function findRevision<T extends string>(
  pool: Pool | Transaction,
  { id }: Pick<ResourceRow<T>, 'id' | 'resource_type'>,
  version: number,
): Promise<Pick<ResourceRow<T>, 'attributes' | 'created_at'> | undefined> {
  const { rows } = await pool.query<Pick<ResourceRow<T>, 'attributes' | 'created_at'>>({
    name: 'find_revision',
    text: 'select attributes, created_at from revision where resource_id = $1 and version = $2',
    values: [id, version],
  });
  return rows[0];
}

/** The attributes just before one of them first had this value; undefined when it never had the value, or always had it. */
export async function findRevisionBefore<T extends string>(
  pool: Pool,
  { id }: Pick<ResourceRow<T>, 'id' | 'resource_type'>,
  attribute: keyof StoredAttributes<T> & string,
  value: string,
): Promise<StoredAttributes<T> | undefined> {
  const { rows } = await pool.query<Columns<'revision', 'attributes', { attributes: StoredAttributes<T> }>>({
    name: 'find_revision_before',
    text: `select attributes from revision where resource_id = $1 and version =
             (select min(version) - 1 from revision where resource_id = $1 and attributes ->> $2 = $3)`,
    values: [id, attribute, value],
  });
  return rows[0]?.attributes;
}

/** A row of table `revision`, with the client and the requester of its command; null for an operation that is not in the store. */
export type RevisionRow = Readonly<
  Columns<
    'revision',
    'version' | 'lifecycle_state' | 'attributes' | 'digest' | 'operation_id' | 'created_at',
    { attributes: StoredAttributes<string> }
  >
> & { readonly client_id: string | null; readonly requested_by: string | null };

/** Versions of a resource of a workspace, newest first: `from` this version on, or from the newest. */
export async function readRevisions(
  pool: Pool,
  of: { readonly workspaceId: string; readonly resourceType: string; readonly id: string },
  { from, limit }: { readonly from: number | undefined; readonly limit: number },
): Promise<RevisionRow[]> {
  const { rows } = await pool.query<RevisionRow>({
    name: 'read_revisions',
    text: `select v.version, v.lifecycle_state, v.attributes, v.digest, v.operation_id, v.created_at, o.client_id, o.requested_by
           from resource r join revision v on v.resource_id = r.id left join operation o on o.id = v.operation_id
           where r.id = $1 and r.workspace_id = $2 and r.resource_type = $3 and ($4::int is null or v.version <= $4)
           order by v.version desc limit $5`,
    values: [of.id, of.workspaceId, of.resourceType, from ?? null, limit],
  });
  return rows;
}

/** Resources of a type that link to `toId` by the link `name`, each as it was at a time, in the order of their ids. */
export async function listLinkedAt<T extends string>(
  pool: Pool | Transaction,
  workspaceId: string,
  linked: { readonly type: T; readonly name: LinkName<T>; readonly toId: string },
  at: Date,
): Promise<ResourceRow<T>[]> {
  const { rows } = await pool.query<ResourceRow<T>>({
    name: 'list_linked_at',
    text: `select distinct on (r.id) r.id, r.workspace_id, r.resource_type, v.version, v.lifecycle_state, v.attributes, v.digest,
             v.operation_id, r.created_at, v.created_at as updated_at
           from link l join resource r on r.id = l.from_id join revision v on v.resource_id = r.id and v.created_at <= $5
           where l.to_id = $1 and l.name = $2 and r.workspace_id = $3 and r.resource_type = $4 order by r.id, v.version desc`,
    values: [linked.toId, linked.name, workspaceId, linked.type, at],
  });
  return rows;
}
