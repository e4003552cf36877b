import { canonicalFormat } from '@longwave/audio';
import { scheduleBreaks, type ScheduledBreak } from '@longwave/hls-media';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { planBreaks } from '../decisions/plan-breaks.ts';
import type { Listener } from '../listeners/identify-listener.ts';
import type { BoundPlays } from '../plays/bound-plays.ts';
import type { Bindings } from '../plays/bindings.ts';
import { findLatestHlsPlay, saveHlsPlay, type HlsPlay } from '../plays/hls-play-table.ts';
import { keysOf } from '../plays/resume-play.ts';
import { isRunningHlsPlay, nextSequence } from '../plays/running-hls-play.ts';
import type { OpenPresentation } from '../presentations/open-presentation.ts';
import type { HiddenEpisode, PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';

/** The play by HLS that this listener opened within the last 24 h, of an episode that was hidden since; undefined without one. */
export type ResumeHlsPlay = (episode: HiddenEpisode, listener: Listener, at: Date) => Promise<HlsPlay | undefined>;

export const createResumeHlsPlay =
  (pool: Pool): ResumeHlsPlay =>
  async ({ episodeId, playsEndBefore }, listener, at) => {
    const opened = await findLatestHlsPlay(pool, keysOf(listener), episodeId);
    return opened && isRunningHlsPlay(opened, playsEndBefore, at) ? opened : undefined;
  };

export interface OpenHlsPlayOptions {
  readonly pool: Pool;
  readonly projection: Pick<RecentProjection, 'getAdContext'>;
  readonly bindings: Pick<Bindings, 'findLatest'>;
  readonly plays: Pick<BoundPlays, 'findCurrent'>;
}

/**
 * The play by HLS that a listener has of an episode: the one of the last 24 h or a new one, which belongs to the MP3's binding when the
 * listener has one. Freezes where its breaks stand; decides and reserves nothing. Undefined where a new play would
 * begin and `mayOpen` says no. Rejects when the database does not answer.
 */
export type OpenHlsPlay = (
  episode: PlayableEpisode,
  presentation: OpenPresentation,
  listener: Listener,
  at: Date,
  mayOpen: () => boolean,
) => Promise<HlsPlay | undefined>;

export function createOpenHlsPlay({ pool, projection, bindings, plays }: OpenHlsPlayOptions): OpenHlsPlay {
  /** Also of a show whose ads are halted now: a halt may be lifted before a break is reached. */
  async function scheduleOf(
    episode: PlayableEpisode,
    { audio, contentStart }: OpenPresentation,
    at: Date,
  ): Promise<readonly ScheduledBreak[]> {
    if (episode.withoutAds) return [];
    const { plan, markers, silences } = await projection.getAdContext(episode, at);
    const frames = Math.floor(episode.rendition.sizeBytes / canonicalFormat.frameSizeBytes);
    return scheduleBreaks(audio.reader.index, contentStart, planBreaks(plan, markers, { frames, silences }));
  }

  return async (episode, presentation, listener, at, mayOpen) => {
    const { episodeId, playsEndBefore } = episode;
    const [latest, opened] = await Promise.all([
      bindings.findLatest({ listener: keysOf(listener), shared: [] }, episodeId),
      findLatestHlsPlay(pool, keysOf(listener), episodeId),
    ]);
    if (opened && isRunningHlsPlay(opened, playsEndBefore, at)) return opened;
    const own = latest.own && (await plays.findCurrent(latest.own, episode, at));
    const bound = own?.binding;
    if (!bound && !mayOpen()) return undefined;
    const place = bound
      ? { listenerKey: bound.listenerKey, sequence: bound.sequence, openedAt: bound.startedAt }
      : {
          listenerKey: listener.key,
          sequence: nextSequence(listener.key, [latest.own, opened]),
          openedAt: at,
        };
    return saveHlsPlay(pool, {
      ...place,
      ...{ episodeId, playId: newId('ply'), presentation: presentation.digest, addressKey: listener.addressKey },
      publishedAt: episode.publishedAt,
      schedule: await scheduleOf(episode, presentation, at),
    });
  };
}
