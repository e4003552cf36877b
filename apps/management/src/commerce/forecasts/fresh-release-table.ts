import type { Transaction } from '@longwave/postgres';

/** An episode that came out at a time, or will. */
export interface Release {
  readonly episodeId: string;
  readonly podcastId: string;
  readonly atMs: number;
}

/** Episodes of a workspace that were published since a time. A row changes when it is published, so the rows that changed since are enough. */
export async function listFreshReleases(
  tx: Transaction,
  workspaceId: string,
  since: Date,
): Promise<readonly Release[]> {
  const { rows } = await tx.query<Release>({
    name: 'list_fresh_releases',
    text: `select id as "episodeId", attributes ->> 'podcast_id' as "podcastId",
             (extract(epoch from (attributes ->> 'published_at')::timestamptz) * 1000)::bigint::float8 as "atMs"
           from resource where workspace_id = $1 and resource_type = 'episodes' and updated_at >= $2 and lifecycle_state = 'published'
             and (attributes ->> 'published_at')::timestamptz >= $2
           order by id`,
    values: [workspaceId, since],
  });
  return rows;
}
