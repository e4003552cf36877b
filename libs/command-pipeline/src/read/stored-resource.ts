import type { ResourceRow } from '../store/resource-row.ts';

/** A row of table `resource` as Prisma reads it. */
interface StoredResource {
  id: string;
  workspaceId: string;
  resourceType: string;
  version: number;
  lifecycleState: string;
  attributes: unknown;
  digest: string;
  operationId: string;
  createdAt: Date;
  updatedAt: Date;
}

export const toRow = (stored: StoredResource): ResourceRow => ({
  id: stored.id,
  workspace_id: stored.workspaceId,
  resource_type: stored.resourceType,
  version: stored.version,
  lifecycle_state: stored.lifecycleState,
  attributes: stored.attributes as Record<string, unknown>,
  digest: stored.digest,
  operation_id: stored.operationId,
  created_at: stored.createdAt,
  updated_at: stored.updatedAt,
});
