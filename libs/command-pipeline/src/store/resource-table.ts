import type { ResourceDefinition } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { sendStatement, type Transaction } from '@longwave/postgres';
import { tracePosition } from '@longwave/service-kit';
import type { Columns } from '../generated/rows.ts';
import { linksOf, type ResourceRow } from './resource-row.ts';

/** Columns of `resource` as a `ResourceRow` has them. */
export const resourceColumns =
  'id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at';

/** Locks a resource of a workspace for this transaction, or undefined when there is none. */
export async function lockResource<T extends string>(
  tx: Transaction,
  workspaceId: string,
  type: T,
  id: string,
): Promise<ResourceRow<T> | undefined> {
  const { rows } = await tx.query<ResourceRow<T>>({
    name: 'lock_resource',
    text: `select ${resourceColumns} from resource where id = $1 and workspace_id = $2 and resource_type = $3 for update`,
    values: [id, workspaceId, type],
  });
  return rows[0];
}

/**
 * Keeps a resource unchanged until this transaction ends, after waiting for a command on it that still runs: what the transaction reads
 * from here on holds. Returns its state, or undefined when there is no such resource.
 */
export async function holdResource(
  tx: Transaction,
  workspaceId: string,
  type: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await tx.query<Columns<'resource', 'lifecycle_state'>>({
    name: 'hold_resource',
    text: 'select lifecycle_state from resource where id = $1 and workspace_id = $2 and resource_type = $3 for share',
    values: [id, workspaceId, type],
  });
  return rows[0]?.lifecycle_state;
}

/** Throws `link_not_found` unless every linked resource exists in the workspace with the declared type. */
export async function checkLinks(
  tx: Transaction,
  definition: ResourceDefinition,
  row: ResourceRow,
  before: ResourceRow | undefined,
): Promise<void> {
  const old = before ? linksOf(definition, before.attributes) : {};
  const changed = Object.entries(linksOf(definition, row.attributes)).filter(([name, id]) => old[name] !== id);
  if (changed.length === 0) return;
  const { rows } = await tx.query<Columns<'resource', 'id' | 'resource_type'>>({
    name: 'find_linked',
    text: 'select id, resource_type from resource where id = any($1) and workspace_id = $2 for key share',
    values: [changed.map(([, id]) => id), row.workspace_id],
  });
  const types = new Map(rows.map((r) => [r.id, r.resource_type]));
  const errors = changed
    .filter(([name, id]) => types.get(id) !== definition.links[name]!.type)
    .map(([name, id]) => ({
      path: `/changes/${definition.links[name]!.attribute}`,
      code: 'link_not_found',
      detail: `There is no ${definition.links[name]!.type.replaceAll('_', ' ')} resource ${id}.`,
    }));
  if (errors.length > 0) throw new Problem('link_not_found', errors[0]!.detail, { errors });
}

/** Reserves the unique values of a resource, and frees them in a terminal state. Throws `value_taken`. */
export async function saveUniqueKeys(tx: Transaction, definition: ResourceDefinition, row: ResourceRow): Promise<void> {
  if (definition.uniqueAttributes.length === 0) return;
  if (definition.terminalStates.includes(row.lifecycle_state)) {
    await tx.query('delete from unique_key where resource_id = $1', [row.id]);
    return;
  }
  for (const attribute of definition.uniqueAttributes) {
    const value = String(row.attributes[attribute]);
    const { rows } = await tx.query<Columns<'unique_key', 'resource_id'>>({
      name: 'hold_unique_key',
      text: `insert into unique_key (resource_type, attribute, value, resource_id) values ($1, $2, $3, $4)
             on conflict (resource_type, attribute, value) do update set resource_id = unique_key.resource_id returning resource_id`,
      values: [row.resource_type, attribute, value, row.id],
    });
    if (rows[0]!.resource_id !== row.id) {
      const detail = `This ${attribute.replaceAll('_', ' ')} is already taken.`;
      throw new Problem('value_taken', detail, {
        errors: [{ path: `/changes/${attribute}`, code: 'value_taken', detail }],
      });
    }
    await tx.query({
      name: 'free_unique_key',
      text: 'delete from unique_key where resource_id = $1 and attribute = $2 and value <> $3',
      values: [row.id, attribute, value],
    });
  }
}

/**
 * Sends the statement that saves a revision, its links and its event, and deletes the links that only the revision before had.
 */
export function saveRevision(
  tx: Transaction,
  definition: ResourceDefinition,
  row: ResourceRow,
  before: ResourceRow | undefined,
  event: DomainEvent,
): void {
  const links = linksOf(definition, row.attributes);
  const ended = Object.keys(before ? linksOf(definition, before.attributes) : {}).filter((name) => !(name in links));
  sendStatement(tx, {
    name: 'save_revision',
    text: `with head as (
             insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             on conflict (id) do update set version = excluded.version, lifecycle_state = excluded.lifecycle_state,
               attributes = excluded.attributes, digest = excluded.digest, operation_id = excluded.operation_id, updated_at = excluded.updated_at
           ), history as (
             insert into revision (resource_id, version, lifecycle_state, attributes, digest, operation_id, created_at)
             values ($1, $4, $5, $6, $7, $8, $10)
           ), linked as (
             insert into link (from_id, name, to_id) select $1, name, to_id from unnest($11::text[], $12::text[]) as l(name, to_id)
             on conflict (from_id, name) do update set to_id = excluded.to_id
           ), unlinked as (
             delete from link where from_id = $1 and name = any($16::text[])
           )
           insert into outbox (key, event_id, type, payload, traceparent) values ($1, $13, $14, $15, $17)`,
    values: [
      row.id,
      row.workspace_id,
      row.resource_type,
      row.version,
      row.lifecycle_state,
      row.attributes,
      row.digest,
      row.operation_id,
      row.created_at,
      row.updated_at,
      Object.keys(links),
      Object.values(links),
      event.id,
      event.type,
      event,
      ended,
      tracePosition() ?? null,
    ],
  });
}
