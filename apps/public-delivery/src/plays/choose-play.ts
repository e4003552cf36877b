import { createHash } from 'node:crypto';
import type { UserAgentDescription } from '@longwave/audience';
import { idFromBytes } from '@longwave/ids';
import { databaseOutage } from '@longwave/postgres';
import { meter, type Logger } from '@longwave/service-kit';
import { LRUCache } from 'lru-cache';
import type { AppTrace } from '../listeners/app-trace.ts';
import type { Listener } from '../listeners/identify-listener.ts';
import { partsOf } from '../arrangements/arrangement.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { HaltScope } from '../projection/break-plan.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { filledBreaksOf, keepAds, type PlayAds } from '../arrangements/arranged-breaks.ts';
import type { Bindings } from './bindings.ts';
import type { Compose } from '../progressive/create-composer.ts';
import { decideRequest } from '../decisions/decide-request.ts';
import { hasEnded } from './ended-plays.ts';
import { decide, noDecisionReasons, type Decision, type ServingClient } from '../decisions/decide.ts';
import type { NewPlayLimit } from './new-play-limit.ts';
import { haltsAll, haltsAny, withoutHalted } from '../decisions/halts.ts';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import type { Binding, NewArrangement, StoredArrangement } from './play-table.ts';
import { within } from '../segments/within.ts';

/** What one listener gets of one episode. */
export interface Play {
  readonly arrangement: StoredArrangement;
  /** Absent for clean content that nobody decided. */
  readonly binding: Binding | undefined;
}

/** How long a listener keeps an arrangement, from the first decision. */
export const bindingMs = 24 * 3_600_000;
const holds = ({ startedAt }: Binding, at: Date): boolean => startedAt.getTime() > at.getTime() - bindingMs;

const noAds: PlayAds = { breaks: [], counted: {} };
/** Bindings that are remembered for when the database is away. */
const givenMax = 5_000;
/** An ad whose bytes are not here by then is left out. */
const segmentWaitMs = 2_000;

export interface ChoosePlayOptions {
  readonly serving: ServingClient;
  readonly projection: Pick<RecentProjection, 'listHalts' | 'getAdContext'>;
  readonly arrangements: KnownArrangements;
  readonly bindings: Bindings;
  readonly segments: Pick<SegmentCache, 'fetch'>;
  readonly compose: Compose;
  readonly describe: (userAgent: string) => UserAgentDescription;
  readonly traceApp: (userAgent: string) => AppTrace;
  readonly decideDeadlineMs: number;
  readonly mayBegin: NewPlayLimit;
  readonly logger: Logger;
}

export type ChoosePlay = (episode: PlayableEpisode, listener: Listener, at: Date, requestId: string) => Promise<Play>;

/** The same play, asked by whichever process, has the same name. */
function decisionIdOf(listenerKey: string, episodeId: string, sequence: number, at: Date): string {
  const name = [listenerKey, episodeId, sequence, at.toISOString().slice(0, 10)].join('\n');
  return idFromBytes('dec', createHash('sha256').update(name).digest().subarray(0, 16));
}

/**
 * Gives a listener the arrangement bound within the last 24 h, else decides, binds and stores one before answering. Twenty
 * requests at once give one arrangement: callers in this process share one decision, and between processes the first row wins.
 * No decision means clean content, bound like any other: who asks again for every range must not get other bytes. What is bound and
 * was halted since is bound anew without the halted ads, for what is left of the 24 h. Where more plays begin at an address than it
 * may, the others share one clean binding of that address and episode for 24 h. Rejects only when the database does
 * not answer and this listener was given nothing of the episode lately.
 */
export function createChoosePlay(options: ChoosePlayOptions): ChoosePlay {
  const { serving, projection, arrangements, bindings, segments, compose, describe, traceApp, mayBegin, logger } =
    options;
  const deciding = new Map<string, Promise<Play>>();
  const given = new LRUCache<string, Binding>({ max: givenMax });
  const undecided = meter().createCounter('longwave.delivery.decisions_missed', {
    description: 'Plays that began without ads because no decision could be used',
  });
  for (const reason of noDecisionReasons) undecided.add(0, { reason });

  async function clean(episode: PlayableEpisode, at: Date): Promise<Play> {
    const arrangement = await compose(episode, [], at);
    await arrangements.save(arrangement);
    return { arrangement, binding: undefined };
  }

  async function boundPlay(binding: Binding): Promise<Play> {
    const arrangement = await arrangements.find(binding.arrangementId);
    if (!arrangement) throw new Error(`arrangement ${binding.arrangementId} is missing`);
    return { arrangement, binding };
  }

  /** What a binding gives, unless it is over. */
  async function holdingPlay(binding: Binding, episode: PlayableEpisode, at: Date): Promise<Play | undefined> {
    if (!holds(binding, at)) return undefined;
    const play = await boundPlay(binding);
    const { parts } = play.arrangement.document;
    const playsEnd = { before: episode.playsEndBefore, digest: episode.rendition.digest };
    return hasEnded({ startedAt: binding.startedAt, isBound: true, parts }, playsEnd) ? undefined : play;
  }

  async function bind(arrangement: NewArrangement, wanted: Binding): Promise<Play> {
    const binding = await bindings.bind(arrangement, wanted);
    return binding === wanted ? { arrangement, binding } : boundPlay(binding);
  }

  /** What of a decision is at hand in time; no decision when it gave ads and none of them is. */
  async function atHand(decision: Decision, requestId: string): Promise<Decision> {
    if (!decision.decided) return decision;
    const slots = decision.breaks.flatMap((each) => each.ads);
    const fetched = slots.map(({ slot, digest, sizeBytes }) =>
      within(segmentWaitMs, segments.fetch(digest, sizeBytes)).then(
        () => [slot],
        () => [],
      ),
    );
    const here = new Set((await Promise.all(fetched)).flat());
    if (here.size === 0 && slots.length > 0) return { decided: false, reason: 'segment_unavailable' };
    if (here.size < slots.length)
      logger.warn({ request_id: requestId, left_out: slots.length - here.size }, 'decision.segments_unavailable');
    return { decided: true, ...keepAds(decision, (slot) => here.has(slot)) };
  }

  async function decideAndBind(
    episode: PlayableEpisode,
    listener: Listener,
    halts: readonly HaltScope[],
    sequence: number,
    at: Date,
    requestId: string,
  ): Promise<Play> {
    const { podcastId, episodeId } = episode;
    const { key: listenerKey, addressKey } = listener;
    const decisionId = decisionIdOf(listenerKey, episodeId, sequence, at);
    const bindPlay = async ({ breaks, counted: ads }: PlayAds): Promise<Play> => {
      const arrangement = await compose(episode, breaks, at);
      return bind(arrangement, {
        ...{ listenerKey, episodeId, sequence, decisionId, ads },
        ...{ arrangementId: arrangement.id, startedAt: at, addressKey, ...traceApp(listener.userAgent) },
      });
    };
    if (haltsAll(halts, podcastId)) return bindPlay(noAds);
    const context = await projection.getAdContext(episode, at);
    const request = decideRequest(decisionId, episode, context, listener, describe(listener.userAgent), at);
    const decision = await atHand(await decide(serving, request, options.decideDeadlineMs), requestId);
    if (!decision.decided) {
      logger.warn({ request_id: requestId, episode_id: episodeId, reason: decision.reason }, 'decision.unavailable');
      undecided.add(1, { reason: decision.reason });
      return bindPlay(noAds);
    }
    return bindPlay(withoutHalted(decision, halts, podcastId));
  }

  /** The same play without what must not run any more. When the audio itself changed too, without any ads. */
  async function bindWithoutHalted(
    episode: PlayableEpisode,
    bound: Binding,
    halts: readonly HaltScope[],
    at: Date,
  ): Promise<Play> {
    const { document } = (await boundPlay(bound)).arrangement;
    const same = partsOf(document).some((part) => part.content_ms === 0 && part.blob === episode.rendition.digest);
    const before = same ? { breaks: filledBreaksOf(document), counted: bound.ads } : noAds;
    const { breaks, counted: ads } = withoutHalted(before, halts, episode.podcastId);
    const arrangement = await compose(episode, breaks, at);
    const sequence = bound.sequence + 1;
    const decisionId = decisionIdOf(bound.listenerKey, episode.episodeId, sequence, at);
    return bind(arrangement, { ...bound, sequence, decisionId, arrangementId: arrangement.id, ads });
  }

  /** Clean content for all new listeners of an address. */
  async function bindShared(
    episode: PlayableEpisode,
    { addressKey }: Listener,
    before: Binding | undefined,
    at: Date,
  ): Promise<Play> {
    const { episodeId } = episode;
    const arrangement = await compose(episode, [], at);
    const sequence = before?.listenerKey === addressKey ? before.sequence + 1 : 0;
    return bind(arrangement, {
      ...{ listenerKey: addressKey, episodeId, sequence, ads: {}, arrangementId: arrangement.id, startedAt: at },
      ...{
        decisionId: decisionIdOf(addressKey, episodeId, sequence, at),
        addressKey,
        app: undefined,
        system: undefined,
      },
    });
  }

  async function choose(episode: PlayableEpisode, listener: Listener, at: Date, requestId: string): Promise<Play> {
    const keys = listener.previousKey === undefined ? [listener.key] : [listener.key, listener.previousKey];
    const [{ own: latest, shared }, halts] = await Promise.all([
      bindings.findLatest({ listener: keys, shared: listener.addressKeys }, episode.episodeId),
      projection.listHalts(episode.workspaceId, at),
    ]);
    const own = latest && (await holdingPlay(latest, episode, at));
    if (own)
      return haltsAny(halts, episode.podcastId, latest.ads) ? bindWithoutHalted(episode, latest, halts, at) : own;
    const ofAll = shared && (await holdingPlay(shared, episode, at));
    if (ofAll) return ofAll;
    if (listener.onlyLooks) return clean(episode, at);
    if (!listener.addressSafe && !mayBegin(listener.addressKey, at)) return bindShared(episode, listener, shared, at);
    const sequence = latest?.listenerKey === listener.key ? latest.sequence + 1 : 0;
    return decideAndBind(episode, listener, halts, sequence, at, requestId);
  }

  /** The same; while the database is away, what this listener was given last, unless it is over or something of it was halted. */
  async function chooseOrRecall(
    place: string,
    episode: PlayableEpisode,
    listener: Listener,
    at: Date,
    requestId: string,
  ): Promise<Play> {
    try {
      const play = await choose(episode, listener, at, requestId);
      if (play.binding) given.set(place, play.binding);
      return play;
    } catch (error) {
      const last = databaseOutage(error) && given.get(place);
      const play = last && (await holdingPlay(last, episode, at));
      if (!play) throw error;
      const halts = await projection.listHalts(episode.workspaceId, at);
      if (haltsAny(halts, episode.podcastId, last.ads)) throw error;
      return play;
    }
  }

  return (episode, listener, at, requestId) => {
    const place = `${listener.key}:${episode.episodeId}`;
    if (listener.onlyLooks) return chooseOrRecall(place, episode, listener, at, requestId);
    const play =
      deciding.get(place) ??
      chooseOrRecall(place, episode, listener, at, requestId).finally(() => deciding.delete(place));
    deciding.set(place, play);
    return play;
  };
}
