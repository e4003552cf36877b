import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** The digest of the presentation that an episode has now. */
export async function findPresentedDigest(pool: Pool, episodeId: string): Promise<string | undefined> {
  const { rows } = await pool.query<Columns<'presented_episode', 'digest'>>({
    name: 'presented_digest',
    text: 'select digest from presented_episode where episode_id = $1',
    values: [episodeId],
  });
  return rows[0]?.digest ?? undefined;
}
