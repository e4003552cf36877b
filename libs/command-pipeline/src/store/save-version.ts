import type { ResourceDefinition } from '@longwave/command-catalog';
import type { DomainEvent, ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { Transaction } from '@longwave/postgres';
import type { RevisionChange } from './change-table.ts';
import { resourceView, revisionDigest, type ResourceRow } from './resource-row.ts';
import { checkLinks, saveRevision, saveUniqueKeys } from './resource-table.ts';

/** A decided version of one resource. */
interface NewVersion {
  readonly id: string;
  readonly workspaceId: string;
  /** The locked row; undefined for a new resource. */
  readonly current: ResourceRow | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly state: string;
  /** Type of the event about it. */
  readonly event: string;
  readonly operationId: string;
  readonly now: Date;
}

export interface SavedVersion {
  readonly row: ResourceRow;
  readonly view: ResourceView;
  /** Its entry in the workspace's changes; `saveOperation` and `saveReceipt` save it. */
  readonly change: RevisionChange;
}

/**
 * Saves the next version of a resource with its links, its unique values and its event; the receipt's statement saves the change. Throws `link_not_found` or
 * `value_taken`.
 */
export async function saveVersion(
  tx: Transaction,
  resource: ResourceDefinition,
  { id, workspaceId, current, attributes, state, event: type, operationId, now }: NewVersion,
): Promise<SavedVersion> {
  const draft = {
    id,
    workspace_id: workspaceId,
    resource_type: resource.type,
    version: (current?.version ?? 0) + 1,
    lifecycle_state: state,
    attributes: resource.attributes.parse(attributes),
    operation_id: operationId,
    created_at: current?.created_at ?? now,
    updated_at: now,
  };
  const row: ResourceRow = { ...draft, digest: revisionDigest(draft) };
  const view = resourceView(resource, row);
  const event: DomainEvent = {
    id: newId('evt'),
    type,
    workspace_id: row.workspace_id,
    subject: { type: resource.type, id: row.id, version: row.version },
    operation_id: operationId,
    occurred_at: now.toISOString(),
    after: view,
  };
  await checkLinks(tx, resource, row, current);
  saveRevision(tx, resource, row, current, event);
  await saveUniqueKeys(tx, resource, row);
  return { row, view, change: { resourceType: resource.type, resourceId: row.id, version: row.version, event: type } };
}
