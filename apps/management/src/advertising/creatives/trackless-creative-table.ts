import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** Reads ids of the prepared creatives of a workspace that lack something: the newest first, at most `limit` that are older than `before`. */
const listLacking =
  (name: string, condition: string) =>
  async (pool: Pool, workspaceId: string, before: string | undefined, limit: number): Promise<string[]> => {
    const { rows } = await pool.query<Columns<'resource', 'id'>>({
      name,
      text: `select id from resource
             where workspace_id = $1 and resource_type = 'creatives'
               and lifecycle_state in ('processing', 'pending_review', 'approved', 'suspended')
               and ${condition}
               and ($2::text is null or id < $2)
             order by id desc limit $3`,
      values: [workspaceId, before ?? null, limit],
    });
    return rows.map(({ id }) => id);
  };

/** Those with a prepared stream that has no track of HLS, which is not being made. */
export const listTracklessCreatives = listLacking(
  'list_trackless_creatives',
  `attributes -> 'media' @? '$[*] ? (!exists (@.hls))' and coalesce(attributes #>> '{tracks,state}', 'failed') = 'failed'`,
);

/** Those whose streams have their tracks, and that have no pictures, neither ready nor being made. */
export const listPicturelessCreatives = listLacking(
  'list_pictureless_creatives',
  `attributes -> 'media' @? '$[*]' and not attributes -> 'media' @? '$[*] ? (!exists (@.hls))'
               and coalesce(attributes #>> '{pictures,state}', 'failed') = 'failed'`,
);

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
