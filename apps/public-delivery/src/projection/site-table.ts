import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { episodeColumns, newestFirst, shownEpisodes, type FeedEpisodeRow } from './feed-table.ts';
import type { Chapters } from './projected.ts';

/** An episode as the pages of its podcast show it. */
export interface SiteEpisodeRow
  extends FeedEpisodeRow, Columns<'episode', 'id' | 'chapters', { chapters: Chapters | null }> {}

const columns = `${episodeColumns}, e.id, e.chapters`;

/** Episodes that the feed shows, newest first. */
export async function listSiteEpisodes(
  tx: Transaction,
  podcastId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly SiteEpisodeRow[]> {
  const { rows } = await tx.query<SiteEpisodeRow>(
    `select ${columns} ${shownEpisodes} ${newestFirst} offset $2 limit $3`,
    [podcastId, offset, limit],
  );
  return rows;
}

/** An episode that the feed of this podcast shows. */
export async function findSiteEpisode(
  tx: Transaction,
  podcastId: string,
  episodeId: string,
): Promise<SiteEpisodeRow | undefined> {
  const { rows } = await tx.query<SiteEpisodeRow>(`select ${columns} ${shownEpisodes} and e.id = $2`, [
    podcastId,
    episodeId,
  ]);
  return rows[0];
}

/** The ids of the newest episodes that the feed shows. */
export async function listSiteEpisodeIds(
  tx: Transaction,
  podcastId: string,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await tx.query<Columns<'episode', 'id'>>(`select e.id ${shownEpisodes} ${newestFirst} limit $2`, [
    podcastId,
    limit,
  ]);
  return rows.map(({ id }) => id);
}
