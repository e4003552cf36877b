import type { Due } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Columns } from '../../generated/rows.ts';
import type { Episode } from './episode.ts';

/** Throws `value_taken` when another episode of the podcast has the GUID. Locks the GUID, so that two transactions cannot both take it. */
export async function requireFreeGuid(tx: Transaction, podcastId: string, guid: string): Promise<void> {
  await tx.query({
    name: 'lock_episode_guid',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [`${podcastId} ${guid}`],
  });
  const { rowCount } = await tx.query({
    name: 'find_episode_guid',
    text: `select 1 from resource where resource_type = 'episodes' and attributes ->> 'podcast_id' = $1 and attributes ->> 'guid' = $2 limit 1`,
    values: [podcastId, guid],
  });
  if (rowCount === 0) return;
  const detail = 'Another episode of this podcast has this GUID.';
  throw new Problem('value_taken', detail, { errors: [{ path: '/changes/guid', code: 'value_taken', detail }] });
}

/** Scheduled episodes that are due, the oldest first. Times are stored in one form, so that texts sort by time. */
export async function listDueEpisodes(pool: Pool, now: Date, limit: number): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: 'list_due_episodes',
    text: `select id, workspace_id, attributes ->> 'publish_at' as occurrence from resource
           where resource_type = 'episodes' and lifecycle_state = 'scheduled'
             and (attributes ->> 'publish_at') collate "C" <= $1
           order by (attributes ->> 'publish_at') collate "C" limit $2`,
    values: [now.toISOString(), limit],
  });
  return rows;
}

/** The newest published episodes of a podcast. */
export async function listNewestPublished(
  db: Pool | Transaction,
  workspaceId: string,
  podcastId: string,
  limit: number,
): Promise<{ readonly id: string; readonly attributes: Episode }[]> {
  const { rows } = await db.query<Columns<'resource', 'id' | 'attributes', { attributes: Episode }>>({
    name: 'list_newest_published',
    text: `select id, attributes from resource
           where resource_type = 'episodes' and lifecycle_state = 'published' and workspace_id = $1
             and attributes ->> 'podcast_id' = $2
           order by (attributes ->> 'published_at') collate "C" desc limit $3`,
    values: [workspaceId, podcastId, limit],
  });
  return rows;
}
