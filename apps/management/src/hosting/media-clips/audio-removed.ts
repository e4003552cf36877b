import type { Attributes } from '@longwave/command-catalog';
import type { Consequence } from '@longwave/command-pipeline';
import { withoutProduction, withPlaysEnded } from '../episodes/episode.ts';
import { hasAudio } from '../episodes/require-audio.ts';

const shown: readonly string[] = ['published', 'scheduled'];

/**
 * The consequence of a deleted clip for its episode: it loses the audio of the clip's production, and is unpublished when it has no other
 * audio. The clip of an earlier production changes nothing, unless mode "stop_all" ends the plays that still use it.
 */
export function audioRemoved(
  clip: Attributes<'media_clips'>,
  mode: 'stop_new' | 'stop_all' | undefined,
  now: Date,
): Consequence<'episodes'> {
  const decide: Consequence<'episodes'>['decide'] = async (row, tx) => {
    const { id, workspace_id: workspaceId, lifecycle_state: state, attributes: episode } = row;
    const isPlayed = clip.production_id !== undefined && clip.production_id === episode.current_production_id;
    if (state === 'archived') return undefined;
    const ended = withPlaysEnded(episode, mode, now);
    const changed = { attributes: ended, state, event: 'episode.audio_removed' };
    if (clip.production_id !== undefined && !isPlayed) return ended === episode ? undefined : changed;
    const attributes = isPlayed ? withoutProduction(ended) : ended;
    if (shown.includes(state) && !(await hasAudio(tx, workspaceId, id, attributes))) {
      const { publish_at: _at, ...left } = attributes;
      return { attributes: left, state: 'unpublished', event: 'episode.unpublished' };
    }
    return attributes === episode ? undefined : { ...changed, attributes };
  };
  return { subject: { type: 'episodes', id: clip.episode_id }, decide };
}
