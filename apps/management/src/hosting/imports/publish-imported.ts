import type { Episode } from '../episodes/episode.ts';
import type { ManagementCommand } from '../../background/execute-as-management.ts';

/**
 * The command that publishes an imported episode, or schedules it when its date is still to come. Undefined while it has no
 * audio, when directories shall hide it (only a person publishes that), and once somebody decided about it: it is no draft then.
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
