import { tracePosition } from '@longwave/service-kit';
import type { FilledBreak } from '../arrangements/arranged-breaks.ts';
import type { NewArrangement, StoredArrangement } from '../arrangements/arrangement-table.ts';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import { adPicturesOf } from '../decisions/ad-picture-table.ts';
import { adTracksOf } from '../decisions/ad-track-table.ts';
import type { PlayAds } from '../decisions/play-ads.ts';
import type { HiddenEpisode, PlayableEpisode } from '../projection/content-table.ts';
import type { Binding } from './binding-table.ts';
import type { Bindings } from './bindings.ts';
import { hasEnded } from './ended-plays.ts';

/** The play of one episode for one listener. */
export interface Play {
  readonly arrangement: StoredArrangement;
  /** Absent for clean content that nobody decided. */
  readonly binding: Binding | undefined;
}

/** How long a listener keeps an arrangement, from the first decision. */
export const bindingMs = 24 * 3_600_000;

/** Composes the file of one play. Rejects only when the database does not answer. */
export type Compose = (episode: PlayableEpisode, breaks: readonly FilledBreak[], at: Date) => Promise<NewArrangement>;

/** Plays with the arrangements and bindings that they consist of. */
export interface BoundPlays {
  /** A play without ads that is bound to nobody. */
  clean(episode: PlayableEpisode, at: Date): Promise<Play>;
  /** The play of a binding, of any age. */
  get(binding: Binding): Promise<Play>;
  /** The play of a binding; undefined when the binding is older than 24 h or the play was ended for everybody. */
  findCurrent(binding: Binding, episode: PlayableEpisode | HiddenEpisode, at: Date): Promise<Play | undefined>;
  /** Composes a file with the ads and binds it; answers the play of a concurrent request when that was bound first. */
  bind(
    episode: PlayableEpisode,
    binding: Omit<Binding, 'ads' | 'arrangementId' | 'traceparent'>,
    ads: PlayAds,
    at: Date,
  ): Promise<Play>;
}

export interface BoundPlaysOptions {
  readonly arrangements: KnownArrangements;
  readonly bindings: Pick<Bindings, 'bind'>;
  readonly compose: Compose;
}

export function createBoundPlays({ arrangements, bindings, compose }: BoundPlaysOptions): BoundPlays {
  async function get(binding: Binding): Promise<Play> {
    const arrangement = await arrangements.find(binding.arrangementId);
    if (!arrangement) throw new Error(`arrangement ${binding.arrangementId} is missing`);
    return { arrangement, binding };
  }

  return {
    get,
    clean: async (episode, at) => {
      const arrangement = await compose(episode, [], at);
      await arrangements.save(arrangement);
      return { arrangement, binding: undefined };
    },
    findCurrent: async (binding, episode, at) => {
      const { startedAt } = binding;
      if (startedAt.getTime() <= at.getTime() - bindingMs) return undefined;
      const play = await get(binding);
      const { parts } = play.arrangement.document;
      const digest = 'rendition' in episode ? episode.rendition.digest : undefined;
      const playsEnd = { before: episode.playsEndBefore, digest };
      return hasEnded({ startedAt, isBound: true, parts }, playsEnd) ? undefined : play;
    },
    bind: async (episode, unbound, playAds, at) => {
      const { breaks, counted: ads } = playAds;
      const arrangement = await compose(episode, breaks, at);
      const requested = { ...unbound, ads, arrangementId: arrangement.id, traceparent: tracePosition() };
      const binding = await bindings.bind(arrangement, requested, {
        tracks: adTracksOf(breaks),
        pictures: adPicturesOf(playAds),
      });
      return binding === requested ? { arrangement, binding } : get(binding);
    },
  };
}
