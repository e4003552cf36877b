import type { ResourceRow } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

type Queryable = Pick<Pool, 'query'> | Transaction;

/** The most aliases of an authority that are not retired: its serving intent has an action for each. */
export const mostAliases = 10_000;

/** Whether an authority has as many aliases as it may. Makes transactions that register its aliases wait for each other. */
export async function hasMostAliases(tx: Transaction, workspaceId: string, authorityId: string): Promise<boolean> {
  await tx.query({
    name: 'lock_aliases_of_authority',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 3))',
    values: [authorityId],
  });
  const { rowCount } = await tx.query({
    name: 'find_last_alias',
    text: `select from resource where resource_type = 'delivery_aliases' and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and lifecycle_state in ('active', 'paused')
           offset $3 limit 1`,
    values: [workspaceId, authorityId, mostAliases - 1],
  });
  return rowCount === 1;
}

/** Whether a host has aliases of another workspace: all aliases of a host are of one, so one is looked at. Makes transactions about one host wait for each other. */
export async function isHostOfOthers(tx: Transaction, workspaceId: string, host: string): Promise<boolean> {
  await tx.query({
    name: 'lock_alias_host',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 2))',
    values: [host],
  });
  const { rows } = await tx.query<Columns<'resource', 'workspace_id'>>({
    name: 'find_workspace_of_host',
    text: `select workspace_id from resource where resource_type = 'delivery_aliases' and attributes ->> 'host' = $1 limit 1`,
    values: [host],
  });
  return rows[0] !== undefined && rows[0].workspace_id !== workspaceId;
}

/** Whether an authority has an alias of this name. */
export async function hasAlias(
  tx: Transaction,
  workspaceId: string,
  authorityId: string,
  alias: string,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'find_alias',
    text: `select from resource where resource_type = 'delivery_aliases' and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and attributes ->> 'alias' = $3 limit 1`,
    values: [workspaceId, authorityId, alias],
  });
  return rowCount === 1;
}

/** The aliases of an authority that are active or paused, by their names: at most `mostAliases`. */
export async function listAliases(
  db: Queryable,
  workspaceId: string,
  authorityId: string,
): Promise<ResourceRow<'delivery_aliases'>[]> {
  const { rows } = await db.query<ResourceRow<'delivery_aliases'>>({
    name: 'list_aliases',
    text: `select id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at
           from resource where resource_type = 'delivery_aliases' and workspace_id = $1 and attributes ->> 'authority_id' = $2
             and lifecycle_state in ('active', 'paused')
           order by attributes ->> 'alias'`,
    values: [workspaceId, authorityId],
  });
  return rows;
}

/** The authorities that have an alias in a workspace that is active or paused. */
export async function listAliasOwners(db: Queryable, workspaceId: string): Promise<readonly string[]> {
  const { rows } = await db.query<Columns<'link', 'to_id'>>({
    name: 'list_alias_owners',
    text: `select distinct attributes ->> 'authority_id' as to_id from resource
           where resource_type = 'delivery_aliases' and workspace_id = $1 and lifecycle_state in ('active', 'paused')`,
    values: [workspaceId],
  });
  return rows.map((row) => row.to_id);
}
