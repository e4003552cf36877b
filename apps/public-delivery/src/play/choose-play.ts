import { createHash } from 'node:crypto';
import { idFromBytes } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import type { Listener } from '../listener/identify-listener.ts';
import type { SegmentCache } from '../media/segment-cache.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import type { Compose } from './create-composer.ts';
import { decide, type Decision, type ServingClient } from './decide.ts';
import {
  bindArrangement,
  findArrangement,
  findLatestBinding,
  saveArrangement,
  type Binding,
  type StoredArrangement,
} from './play-table.ts';

/** What one listener gets of one episode. */
export interface Play {
  readonly arrangement: StoredArrangement;
  /** Absent for clean content that nobody decided. */
  readonly binding: Binding | undefined;
}

/** How long a listener keeps an arrangement, from the first decision. */
export const bindingMs = 24 * 3_600_000;
/** An ad whose bytes are not here by then is left out. */
const segmentWaitMs = 2_000;

export interface ChoosePlayOptions {
  readonly pool: Pool;
  readonly serving: ServingClient;
  readonly segments: Pick<SegmentCache, 'fetch'>;
  readonly compose: Compose;
  readonly decideDeadlineMs: number;
  readonly logger: Logger;
}

export type ChoosePlay = (episode: PlayableEpisode, listener: Listener, at: Date, requestId: string) => Promise<Play>;

/** The same play, asked by whichever process, has the same name. */
function decisionIdOf(listenerKey: string, episodeId: string, sequence: number, at: Date): string {
  const name = [listenerKey, episodeId, sequence, at.toISOString().slice(0, 10)].join('\n');
  return idFromBytes('dec', createHash('sha256').update(name).digest().subarray(0, 16));
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(new Error('too late')), limitMs)));
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Gives a listener the arrangement bound within the last 24 h, else decides, binds and stores one before answering. Twenty
 * requests at once give one arrangement: callers in this process share one decision, and between processes the first row wins.
 * No decision means clean content, stored but not bound. Rejects only when the database does not answer.
 */
export function createChoosePlay(options: ChoosePlayOptions): ChoosePlay {
  const { pool, serving, segments, compose, decideDeadlineMs, logger } = options;
  const deciding = new Map<string, Promise<Play>>();

  async function clean(episode: PlayableEpisode): Promise<Play> {
    const arrangement = await compose(episode, []);
    await saveArrangement(pool, arrangement);
    return { arrangement, binding: undefined };
  }

  async function boundPlay(binding: Binding): Promise<Play> {
    const arrangement = await findArrangement(pool, binding.arrangementId);
    if (!arrangement) throw new Error(`arrangement ${binding.arrangementId} is missing`);
    return { arrangement, binding };
  }

  /** A decision whose ads are at hand. */
  async function usable(decision: Decision): Promise<Decision> {
    if (!decision.decided) return decision;
    try {
      await within(segmentWaitMs, Promise.all(decision.ads.map((ad) => segments.fetch(ad.digest, ad.sizeBytes))));
      return decision;
    } catch {
      return { decided: false, reason: 'segment_unavailable' };
    }
  }

  async function decideAndBind(
    episode: PlayableEpisode,
    listener: Listener,
    sequence: number,
    at: Date,
    requestId: string,
  ): Promise<Play> {
    const { workspaceId, podcastId, episodeId } = episode;
    const decisionId = decisionIdOf(listener.key, episodeId, sequence, at);
    const listenerBucket = Buffer.from(listener.key, 'hex').subarray(0, 16);
    const country = listener.country === 'unknown' ? '' : listener.country;
    const question = {
      decisionId,
      workspaceId,
      podcastId,
      episodeId,
      listenerBucket,
      country,
      atMs: BigInt(at.getTime()),
    };
    const decision = await usable(await decide(serving, question, decideDeadlineMs));
    if (!decision.decided) {
      logger.warn({ request_id: requestId, episode_id: episodeId, reason: decision.reason }, 'decision.unavailable');
      return clean(episode);
    }
    const arrangement = await compose(episode, decision.ads);
    const wanted: Binding = {
      listenerKey: listener.key,
      episodeId,
      sequence,
      decisionId,
      arrangementId: arrangement.id,
      ads: decision.counted,
      startedAt: at,
    };
    const binding = await bindArrangement(pool, arrangement, wanted);
    return binding === wanted ? { arrangement, binding } : boundPlay(binding);
  }

  async function choose(episode: PlayableEpisode, listener: Listener, at: Date, requestId: string): Promise<Play> {
    const keys = listener.previousKey === undefined ? [listener.key] : [listener.key, listener.previousKey];
    const latest = await findLatestBinding(pool, keys, episode.episodeId);
    if (latest && latest.startedAt.getTime() > at.getTime() - bindingMs) return boundPlay(latest);
    if (listener.onlyLooks) return clean(episode);
    return decideAndBind(
      episode,
      listener,
      latest?.listenerKey === listener.key ? latest.sequence + 1 : 0,
      at,
      requestId,
    );
  }

  return (episode, listener, at, requestId) => {
    if (listener.onlyLooks) return choose(episode, listener, at, requestId);
    const place = `${listener.key}:${episode.episodeId}`;
    const play = deciding.get(place) ?? choose(episode, listener, at, requestId).finally(() => deciding.delete(place));
    deciding.set(place, play);
    return play;
  };
}
