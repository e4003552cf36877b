import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/**
 * Ids of the creatives of a workspace with a prepared stream that has no track of HLS, which is not being made: the newest first, at most
 * `limit` that are older than `before`.
 */
export async function listTracklessCreatives(
  pool: Pool,
  workspaceId: string,
  before: string | undefined,
  limit: number,
): Promise<string[]> {
  const { rows } = await pool.query<Columns<'resource', 'id'>>({
    name: 'list_trackless_creatives',
    text: `select id from resource
           where workspace_id = $1 and resource_type = 'creatives'
             and lifecycle_state in ('processing', 'pending_review', 'approved', 'suspended')
             and attributes -> 'media' @? '$[*] ? (!exists (@.hls))'
             and coalesce(attributes #>> '{tracks,state}', 'failed') = 'failed'
             and ($2::text is null or id < $2)
           order by id desc limit $3`,
    values: [workspaceId, before ?? null, limit],
  });
  return rows.map(({ id }) => id);
}

/**
 * Ids of the creatives of a workspace whose streams have their tracks and that have no pictures, neither ready nor being made: the newest
 * first, at most `limit` that are older than `before`.
 */
export async function listPicturelessCreatives(
  pool: Pool,
  workspaceId: string,
  before: string | undefined,
  limit: number,
): Promise<string[]> {
  const { rows } = await pool.query<Columns<'resource', 'id'>>({
    name: 'list_pictureless_creatives',
    text: `select id from resource
           where workspace_id = $1 and resource_type = 'creatives'
             and lifecycle_state in ('processing', 'pending_review', 'approved', 'suspended')
             and attributes -> 'media' @? '$[*]' and not attributes -> 'media' @? '$[*] ? (!exists (@.hls))'
             and coalesce(attributes #>> '{pictures,state}', 'failed') = 'failed'
             and ($2::text is null or id < $2)
           order by id desc limit $3`,
    values: [workspaceId, before ?? null, limit],
  });
  return rows.map(({ id }) => id);
}

/** Whether a podcast of the workspace has HLS with pictures. */
export async function hasPodcastWithPictures(pool: Pool, workspaceId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has_podcast_with_pictures',
    text: `select from resource
           where workspace_id = $1 and resource_type = 'podcasts' and lifecycle_state <> 'archived'
             and attributes -> 'hls_video' = 'true' limit 1`,
    values: [workspaceId],
  });
  return rowCount === 1;
}
