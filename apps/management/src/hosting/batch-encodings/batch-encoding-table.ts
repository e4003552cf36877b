import { listLinked, lockResource } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Columns } from '../../generated/rows.ts';

/** Ids of a podcast's productions that are being encoded for a batch, oldest first. */
export async function listEncodings(
  db: Pool | Transaction,
  workspaceId: string,
  podcastId: string,
  batchId: string,
): Promise<string[]> {
  const { rows } = await db.query<Columns<'resource', 'id'>>({
    name: 'list_encodings_of_batch',
    text: `select p.id from link e join link l on l.to_id = e.from_id and l.name = 'episode' join resource p on p.id = l.from_id
           where e.to_id = $1 and e.name = 'podcast' and p.workspace_id = $2 and p.resource_type = 'productions'
             and p.lifecycle_state = 'encoding' and p.attributes ->> 'batch_encoding_id' = $3 order by p.id`,
    values: [podcastId, workspaceId, batchId],
  });
  return rows.map(({ id }) => id);
}

/**
 * Throws `state_not_allowed` when a batch encoding was cancelled or reverted. Locks the batch: a revert at the same moment waits, and finds
 * the changes of this transaction.
 */
export async function assertNotReverted(
  { tx, workspaceId }: { readonly tx: Transaction; readonly workspaceId: string },
  podcastId: string,
  batchId: string | undefined,
): Promise<void> {
  if (batchId === undefined) return;
  const batch = await lockResource(tx, workspaceId, 'batch_encodings', batchId);
  const others = await listLinked(tx, workspaceId, 'batch_encodings', 'podcast', podcastId);
  if (batch?.lifecycle_state === 'cancelled' || others.some(({ attributes }) => attributes.reverts === batchId))
    throw new Problem('state_not_allowed', 'The batch encoding was reverted.');
}
