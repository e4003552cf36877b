import { productCatalog, type ResourceDefinition } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';

/** Types whose resources name files. */
export const fileUsers = ['podcasts', 'episodes', 'productions', 'media_clips', 'creatives'] as const;
const ended = fileUsers.flatMap((type) => (productCatalog.resources[type] as ResourceDefinition).terminalStates);

/** Whether a worker has yet to read the object. */
export async function isBeingRead(tx: Transaction, storageKey: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'find_reading_job',
    text: `select 1 from job where state in ('queued', 'running') and input ->> 'storage_key' = $1 limit 1`,
    values: [storageKey],
  });
  return rowCount !== 0;
}

/**
 * Whether a living production, clip, podcast, episode or creative of the workspace names the upload anywhere. Reads all of
 * them: for uploads that are about to end, which are few.
 */
export async function isNamed(
  db: Pool | Transaction,
  workspaceId: string,
  uploadId: string,
  types: readonly (typeof fileUsers)[number][] = fileUsers,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'find_upload_user',
    text: `select 1 from resource where workspace_id = $1 and resource_type = any($2) and lifecycle_state <> all($3)
           and strpos(attributes::text, $4) > 0 limit 1`,
    values: [workspaceId, types, ended, uploadId],
  });
  return rowCount !== 0;
}
