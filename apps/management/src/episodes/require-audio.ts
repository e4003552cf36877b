import { findResource, listLinked } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Episode } from './episode.ts';

/** Whether an episode has something to hear: an encoded production, or an active media clip (contract, publish guard). */
export async function hasAudio(
  db: Pool | Transaction,
  workspaceId: string,
  episodeId: string,
  episode: Pick<Episode, 'current_production_id'>,
): Promise<boolean> {
  const { current_production_id: productionId } = episode;
  const production =
    productionId === undefined ? undefined : await findResource(db, workspaceId, 'productions', productionId);
  if (production?.lifecycle_state === 'encoded') return true;
  const clips = await listLinked(db, workspaceId, 'media_clips', 'episode', episodeId);
  return clips.some((clip) => clip.lifecycle_state === 'active');
}

/** Throws `episode_has_no_audio` unless the episode has something to hear. */
export async function requireAudio(
  tx: Transaction,
  workspaceId: string,
  episodeId: string,
  episode: Pick<Episode, 'title' | 'current_production_id'>,
): Promise<void> {
  if (!(await hasAudio(tx, workspaceId, episodeId, episode)))
    throw new Problem('episode_has_no_audio', `Attach audio to “${episode.title}” before publishing it.`);
}
