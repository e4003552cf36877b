import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { TrackName } from './missing-tracks.ts';

/**
 * Ids of the productions that episodes of a podcast play and that lack one of the tracks, neither ready nor being made: the newest first, at
 * most `limit` that are older than `before`.
 */
export async function listMissingTracks(
  pool: Pool,
  { workspaceId, podcastId }: { readonly workspaceId: string; readonly podcastId: string },
  tracks: readonly TrackName[],
  before: string | undefined,
  limit: number,
): Promise<string[]> {
  const { rows } = await pool.query<Columns<'resource', 'id'>>({
    name: 'list_missing_tracks',
    text: `select p.id from link l join resource e on e.id = l.from_id
             join resource p on p.id = e.attributes ->> 'current_production_id'
           where l.to_id = $2 and l.name = 'podcast' and e.workspace_id = $1 and e.resource_type = 'episodes'
             and e.lifecycle_state <> 'archived' and p.workspace_id = $1 and p.resource_type = 'productions'
             and p.lifecycle_state = 'encoded'
             and exists (select from unnest($5::text[]) as track(name)
                         where coalesce(p.attributes #>> array['tracks', track.name, 'state'], 'failed') = 'failed')
             and ($3::text is null or p.id < $3)
           order by p.id desc limit $4`,
    values: [workspaceId, podcastId, before ?? null, limit, tracks],
  });
  return rows.map(({ id }) => id);
}
