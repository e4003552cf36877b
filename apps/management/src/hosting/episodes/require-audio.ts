import { findResource, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Episode } from './episode.ts';

/** Whether a production has audio that can be played. Its files outlive its deletion, but not another source. */
export const isPlayable = (
  production: ResourceRow<'productions'> | undefined,
): production is ResourceRow<'productions'> =>
  production !== undefined &&
  ['encoded', 'deleted'].includes(production.lifecycle_state) &&
  production.attributes.files.some(({ role }) => role === 'rendition');

/**
 * Whether an episode has audio: that of its production, or an active media clip that a client registered. The clip of an earlier production
 * is not played.
 */
export async function hasAudio(
  db: Pool | Transaction,
  workspaceId: string,
  episodeId: string,
  episode: Pick<Episode, 'current_production_id'>,
): Promise<boolean> {
  const { current_production_id: productionId } = episode;
  const production =
    productionId === undefined ? undefined : await findResource(db, workspaceId, 'productions', productionId);
  if (isPlayable(production)) return true;
  const clips = await listLinked(db, workspaceId, 'media_clips', 'episode', episodeId);
  return clips.some(
    ({ lifecycle_state: state, attributes }) => state === 'active' && attributes.production_id === undefined,
  );
}

/** Throws `episode_has_no_audio` unless the episode has audio. */
export async function requireAudio(
  tx: Transaction,
  workspaceId: string,
  episodeId: string,
  episode: Pick<Episode, 'title' | 'current_production_id'>,
): Promise<void> {
  if (!(await hasAudio(tx, workspaceId, episodeId, episode)))
    throw new Problem('episode_has_no_audio', `Before publishing, “${episode.title}” still needs audio.`);
}
