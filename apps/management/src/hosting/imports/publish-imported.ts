import type { Episode } from '../episodes/episode.ts';
import type { ManagementCommand } from '../../background/execute-as-management.ts';

/**
 * The command that publishes an imported episode, or schedules it when its date is in the future. Undefined while it has no audio, when
 * directories must hide it (only a person publishes that), and when it is no longer a draft, because somebody decided about it.
 */
export function publicationOf(
  state: string,
  episode: Pick<Episode, 'blocked' | 'publish_at' | 'current_production_id'>,
  now: Date,
): Omit<ManagementCommand<'episode.schedule' | 'episode.publish'>, 'id'> | undefined {
  const { blocked, publish_at: publishAt, current_production_id: productionId } = episode;
  if (state !== 'draft' || blocked || productionId === undefined) return undefined;
  return publishAt !== undefined && new Date(publishAt) > now
    ? { type: 'episode.schedule', changes: { publish_at: publishAt } }
    : { type: 'episode.publish', changes: {} };
}
