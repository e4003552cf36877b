import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { Episode } from '../episodes/episode.ts';

/**
 * The podcast of a workspace with this `podcast:guid` that is not archived. Locks the guid until the transaction ends, so that two imports
 * of one podcast at once are decided one after the other.
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
  const { rows } = await tx.query<Columns<'resource', 'id'> & { title: string }>({
    name: 'find_podcast_guid',
    text: `select id, attributes ->> 'title' as title from resource
           where workspace_id = $1 and resource_type = 'podcasts' and lifecycle_state <> 'archived'
             and attributes ->> 'podcast_guid' = $2 limit 1`,
    values: [workspaceId, guid],
  });
  return rows[0];
}

/** Imported episodes of a podcast that are still drafts, oldest first. Only an import gives a draft a date. */
export async function listImportedDrafts(
  db: Pool,
  workspaceId: string,
  podcastId: string,
): Promise<{ readonly id: string; readonly attributes: Episode }[]> {
  const { rows } = await db.query<Columns<'resource', 'id' | 'attributes', { attributes: Episode }>>({
    name: 'list_imported_drafts',
    text: `select id, attributes from resource
           where resource_type = 'episodes' and lifecycle_state = 'draft' and workspace_id = $1
             and attributes ->> 'podcast_id' = $2
             and (attributes ->> 'published_at' is not null or attributes ->> 'publish_at' is not null)
           order by coalesce(attributes ->> 'published_at', attributes ->> 'publish_at') collate "C", id`,
    values: [workspaceId, podcastId],
  });
  return rows;
}
