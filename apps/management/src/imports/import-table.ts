import type { Transaction } from '@longwave/postgres';

/**
 * The living podcast of a workspace with this `podcast:guid`. Two imports of one podcast at once are decided one after the other:
 * the guid is locked until the transaction ends.
 */
export async function findImportedPodcast(
  tx: Transaction,
  workspaceId: string,
  guid: string,
): Promise<{ readonly id: string; readonly title: string } | undefined> {
  await tx.query({
    name: 'lock_podcast_guid',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [`${workspaceId} ${guid}`],
  });
  const { rows } = await tx.query<{ id: string; title: string }>({
    name: 'find_podcast_guid',
    text: `select id, attributes ->> 'title' as title from resource
           where workspace_id = $1 and resource_type = 'podcasts' and lifecycle_state <> 'archived'
             and attributes ->> 'podcast_guid' = $2 limit 1`,
    values: [workspaceId, guid],
  });
  return rows[0];
}
