import { haltsAny } from '../decisions/halts.ts';
import type { Listener } from '../listeners/identify-listener.ts';
import type { HiddenEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { Bindings } from './bindings.ts';
import type { BoundPlays, Play } from './bound-plays.ts';

/** The keys under which a listener may have a play of the last 24 h. */
export const keysOf = ({ key, previousKey }: Pick<Listener, 'key' | 'previousKey'>): string[] =>
  previousKey === undefined ? [key] : [key, previousKey];

/**
 * The play that this listener began within the last 24 h, of an episode that was hidden since. Undefined without one, when it was ended for
 * everybody, and when it has an ad that is halted: nothing new is composed of what is hidden. The file that new listeners of an address
 * share is nobody's own. Rejects when the database does not answer.
 */
export type ResumePlay = (episode: HiddenEpisode, listener: Listener, at: Date) => Promise<Play | undefined>;

export interface ResumePlayOptions {
  readonly projection: Pick<RecentProjection, 'listHalts'>;
  readonly bindings: Pick<Bindings, 'findLatest'>;
  readonly plays: Pick<BoundPlays, 'findCurrent'>;
}

export const createResumePlay =
  ({ projection, bindings, plays }: ResumePlayOptions): ResumePlay =>
  async (episode, listener, at) => {
    const [{ own }, halts] = await Promise.all([
      bindings.findLatest({ listener: keysOf(listener), shared: [] }, episode.episodeId),
      projection.listHalts(episode.workspaceId, at),
    ]);
    if (!own || haltsAny(halts, episode.podcastId, own.ads)) return undefined;
    return plays.findCurrent(own, episode, at);
  };
