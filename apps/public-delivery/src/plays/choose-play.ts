import { createHash } from 'node:crypto';
import { idFromBytes } from '@longwave/ids';
import { databaseOutage } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { LRUCache } from 'lru-cache';
import { filledBreaksOf } from '../arrangements/arranged-breaks.ts';
import { partsOf } from '../arrangements/arrangement.ts';
import type { StoredArrangement } from '../arrangements/arrangement-table.ts';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import type { DecideAds } from '../decisions/decide-ads.ts';
import { haltsAny, withoutHalted } from '../decisions/halts.ts';
import { noAds } from '../decisions/play-ads.ts';
import type { AppTrace } from '../listeners/app-trace.ts';
import type { Listener } from '../listeners/identify-listener.ts';
import type { HaltScope } from '../projection/break-plan.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { within } from '../projection/within.ts';
import type { Binding } from './binding-table.ts';
import { DecisionOfErasedListener, type Bindings } from './bindings.ts';
import { bindingMs, type BoundPlays, type Play } from './bound-plays.ts';
import type { HlsPlay } from './hls-play-table.ts';
import type { NewPlayLimit } from './new-play-limit.ts';
import { keysOf } from './resume-play.ts';
import { isRunningHlsPlay, nextSequence } from './running-hls-play.ts';

/** A listener who had a play waits no longer for the database: a broken network says nothing for longer. */
const patienceMs = 2_000;
/** Bindings that are remembered for an outage of the database or too great a load. */
const maxLastBindings = 5_000;
/**
 * Plays that are chosen at once. Further listeners get their last play, or are asked to come again. Of 128 plays the ads are decided
 * (`createDecideAds`).
 */
const maxUnderWay = 512;

export interface ChoosePlayOptions {
  readonly projection: Pick<RecentProjection, 'listHalts' | 'findPresentedDigest'>;
  readonly bindings: Pick<Bindings, 'findLatest' | 'findOfHlsPlay'>;
  /** The newest play by HLS of an episode under any of the keys of a listener. */
  readonly findHlsPlay: (listenerKeys: readonly string[], episodeId: string) => Promise<HlsPlay | undefined>;
  readonly plays: BoundPlays;
  readonly arrangements: Pick<KnownArrangements, 'has'>;
  readonly decideAds: DecideAds;
  readonly traceApp: (userAgent: string) => AppTrace;
  readonly mayBegin: NewPlayLimit;
}

export interface ChoosePlay {
  /** The play of a listener. */
  (episode: PlayableEpisode, listener: Listener, at: Date, requestId: string): Promise<Play>;
  /**
   * The same of a play that began by HLS, whose ads are decided now if they are not yet, over all its breaks and with the MP3. The listener
   * is the one that opened the play; place and device are those of this request. A play that is bound stays as it is, of any age. Rejects with
   * `temporarily_unavailable` where too many plays begin at the address.
   */
  ofHls(play: HlsPlay, episode: PlayableEpisode, listener: Listener, at: Date, requestId: string): Promise<Play>;
}

const dayMs = 86_400_000;

/** A player asks for its first list of ads within seconds. */
const maxWaitMs = 60_000;

const isWithinWindow = (startedAt: Date, at: Date): boolean => startedAt.getTime() > at.getTime() - bindingMs;

/** The listener that opened a play, as it is now. */
const openerOf = ({ listenerKey: key, addressKey }: HlsPlay, listener: Listener): Listener => ({
  ...listener,
  ...{ key, previousKey: undefined, addressKey },
});

/**
 * The same play has the same id in every process that asks for its decision. Its first two bytes are the day since 1970-01-01 (UTC), so
 * that the decisions of a day lie together where they are stored.
 */
function decisionIdOf(listenerKey: string, episodeId: string, sequence: number, at: Date): string {
  const name = [listenerKey, episodeId, sequence, at.toISOString().slice(0, 10)].join('\n');
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16);
  bytes.writeUInt16BE(Math.floor(at.getTime() / dayMs) & 0xffff);
  return idFromBytes('dec', bytes);
}

/**
 * Binds with the first sequence, from this one on, whose decision is free. A decision follows from listener, episode, sequence and day, so
 * somebody who was erased today would get the decisions of before again.
 */
async function bindFree(sequence: number, bind: (sequence: number) => Promise<Play>): Promise<Play> {
  for (let free = sequence; ; free++)
    try {
      return await bind(free);
    } catch (error) {
      if (!(error instanceof DecisionOfErasedListener)) throw error;
    }
}

/**
 * Gives a listener the arrangement bound within the last 24 h, else decides, binds and stores one before answering. Twenty
 * requests at once give one arrangement: callers in this process share one decision, and between processes the first row wins.
 * No decision means clean content, bound like any other, so that every range of a listener is of the same bytes. A bound play with an ad
 * that was halted since is bound anew without the halted ads, for the rest of the 24 h. Where more plays begin at an address than may,
 * the others share one clean binding of that address and episode for 24 h. When the database does not answer, or beyond `maxUnderWay`, the
 * listener gets the last play of the episode again; rejects when it had none lately.
 */
export function createChoosePlay(options: ChoosePlayOptions): ChoosePlay {
  const { projection, bindings, findHlsPlay, plays, arrangements, decideAds, traceApp, mayBegin } = options;
  const deciding = new Map<string, Promise<Play>>();
  const decidingHls = new Map<string, Promise<Play>>();
  const lastBindings = new LRUCache<string, Binding>({ max: maxLastBindings });

  /** @param startedAt when the play began: the decision is named by it, so that all surfaces of a play ask for the same one */
  async function bindDecided(
    episode: PlayableEpisode,
    listener: Listener,
    halts: readonly HaltScope[],
    sequence: number,
    startedAt: Date,
    at: Date,
    requestId: string,
  ): Promise<Play> {
    const { episodeId } = episode;
    const { key: listenerKey, addressKey } = listener;
    const decisionId = decisionIdOf(listenerKey, episodeId, sequence, startedAt);
    // Of a play that was opened long ago, the ads of today are decided.
    const decidedAt = isWithinWindow(startedAt, at) ? startedAt : at;
    const ads = await decideAds(decisionId, episode, listener, halts, decidedAt, requestId);
    const app = traceApp(listener.userAgent);
    const binding = { listenerKey, episodeId, sequence, decisionId, startedAt, addressKey, ...app };
    return plays.bind(episode, binding, ads, at);
  }

  /** The same play without the ads that were halted. When the audio itself changed too, without any ads. */
  function bindWithoutHalted(
    episode: PlayableEpisode,
    { document }: StoredArrangement,
    bound: Binding,
    halts: readonly HaltScope[],
    at: Date,
  ): Promise<Play> {
    const same = partsOf(document).some((part) => part.content_ms === 0 && part.blob === episode.rendition.digest);
    const before = same ? { breaks: filledBreaksOf(document), counted: bound.ads } : noAds;
    const sequence = bound.sequence + 1;
    const decisionId = decisionIdOf(bound.listenerKey, episode.episodeId, sequence, at);
    const ads = withoutHalted(before, halts, episode.podcastId);
    return plays.bind(episode, { ...bound, sequence, decisionId }, ads, at);
  }

  /** Clean content for all new listeners of an address. */
  function bindShared(
    { addressKey }: Listener,
    episode: PlayableEpisode,
    before: Binding | undefined,
    at: Date,
  ): Promise<Play> {
    const { episodeId } = episode;
    const owner = { listenerKey: addressKey, addressKey, app: undefined, system: undefined };
    return bindFree(before?.listenerKey === addressKey ? before.sequence + 1 : 0, (sequence) => {
      const decisionId = decisionIdOf(addressKey, episodeId, sequence, at);
      return plays.bind(episode, { ...owner, episodeId, sequence, decisionId, startedAt: at }, noAds, at);
    });
  }

  /** The newest play by HLS; looked for only where the episode has a presentation. */
  async function findOpened(episodeId: string, listener: Listener, at: Date): Promise<HlsPlay | undefined> {
    const hasHls = (await projection.findPresentedDigest(episodeId, at)) !== undefined;
    return hasHls ? findHlsPlay(keysOf(listener), episodeId) : undefined;
  }

  async function choose(episode: PlayableEpisode, listener: Listener, at: Date, requestId: string): Promise<Play> {
    const [latest, halts, opened] = await Promise.all([
      bindings.findLatest({ listener: keysOf(listener), shared: listener.addressKeys }, episode.episodeId),
      projection.listHalts(episode.workspaceId, at),
      findOpened(episode.episodeId, listener, at),
    ]);
    const own = latest.own && (await plays.findCurrent(latest.own, episode, at));
    if (own?.binding)
      return haltsAny(halts, episode.podcastId, own.binding.ads)
        ? bindWithoutHalted(episode, own.arrangement, own.binding, halts, at)
        : own;
    const waits = opened && isOpen(opened, latest.own, episode, at);
    if (waits && !listener.isDryRun && mayDecide(opened, listener, at))
      return bindOpened(opened, episode, listener, halts, at, requestId);
    const shared = latest.shared && (await plays.findCurrent(latest.shared, episode, at));
    if (shared) return shared;
    if (listener.isDryRun) return plays.clean(episode, at);
    if (!listener.addressSafe && !mayBegin(listener.addressKey, at))
      return bindShared(listener, episode, latest.shared, at);
    return bindFree(nextSequence(listener.key, [latest.own, opened]), (sequence) =>
      bindDecided(episode, listener, halts, sequence, at, at, requestId),
    );
  }

  /** Whether a play that began by HLS waits for its ads and is not over. */
  function isOpen(
    opened: HlsPlay,
    latest: Binding | undefined,
    { playsEndBefore }: PlayableEpisode,
    at: Date,
  ): boolean {
    if (latest && latest.listenerKey === opened.listenerKey && latest.sequence >= opened.sequence) return false;
    return isRunningHlsPlay(opened, playsEndBefore, at);
  }

  /** The limit of new plays was asked when the play was opened; plays that waited count again, so that they cannot be saved up. */
  const mayDecide = ({ openedAt }: HlsPlay, { addressSafe, addressKey }: Listener, at: Date): boolean =>
    at.getTime() - openedAt.getTime() < maxWaitMs || addressSafe || mayBegin(addressKey, at);

  const bindOpened = (
    opened: HlsPlay,
    episode: PlayableEpisode,
    listener: Listener,
    halts: readonly HaltScope[],
    at: Date,
    requestId: string,
  ): Promise<Play> =>
    bindFree(opened.sequence, (sequence) =>
      bindDecided(episode, openerOf(opened, listener), halts, sequence, opened.openedAt, at, requestId),
    );

  async function resolveHls(
    opened: HlsPlay,
    episode: PlayableEpisode,
    listener: Listener,
    at: Date,
    requestId: string,
  ): Promise<Play> {
    const [bound, halts] = await Promise.all([
      bindings.findOfHlsPlay(opened.playId),
      projection.listHalts(episode.workspaceId, at),
    ]);
    if (bound) return plays.get(bound);
    if (!mayDecide(opened, listener, at))
      throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 60 });
    return bindOpened(opened, episode, listener, halts, at, requestId);
  }

  /** For an outage or too great a load: the last play of this listener, unless it is over or has an ad that is halted. */
  async function findLastPlay(
    last: Binding | undefined,
    episode: PlayableEpisode,
    at: Date,
  ): Promise<Play | undefined> {
    const play = last && (await plays.findCurrent(last, episode, at));
    if (!play) return undefined;
    const halts = await projection.listHalts(episode.workspaceId, at);
    return haltsAny(halts, episode.podcastId, last.ads) ? undefined : play;
  }

  async function chooseOrRecall(
    key: string,
    episode: PlayableEpisode,
    listener: Listener,
    at: Date,
    requestId: string,
  ): Promise<Play> {
    const last = lastBindings.get(key);
    const choosing = choose(episode, listener, at, requestId).then((play) => {
      if (play.binding) lastBindings.set(key, play.binding);
      return play;
    });
    try {
      const chosen = last && (await within(patienceMs, choosing));
      if (chosen) return chosen.result;
      return (last && (await findLastPlay(last, episode, at))) ?? (await choosing);
    } catch (error) {
      const play = databaseOutage(error) && (await findLastPlay(last, episode, at));
      if (!play) throw error;
      return play;
    }
  }

  async function recallOrRefuse(key: string, episode: PlayableEpisode, at: Date): Promise<Play> {
    // Only what is in memory: whoever waits for the database is one of the plays that are under way.
    const last = lastBindings.get(key);
    const play = last && arrangements.has(last.arrangementId) && (await findLastPlay(last, episode, at));
    if (!play) throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
    return play;
  }

  let underWay = 0;
  const choosePlay = (episode: PlayableEpisode, listener: Listener, at: Date, requestId: string): Promise<Play> => {
    const key = `${listener.key}:${episode.episodeId}`;
    const shared = listener.isDryRun ? undefined : deciding.get(key);
    if (shared) return shared;
    if (underWay >= maxUnderWay) return recallOrRefuse(key, episode, at);
    underWay += 1;
    const play = chooseOrRecall(key, episode, listener, at, requestId).finally(() => {
      underWay -= 1;
      if (!listener.isDryRun) deciding.delete(key);
    });
    if (!listener.isDryRun) deciding.set(key, play);
    return play;
  };
  return Object.assign(choosePlay, {
    ofHls: (opened: HlsPlay, episode: PlayableEpisode, listener: Listener, at: Date, requestId: string) => {
      const shared = decidingHls.get(opened.playId);
      if (shared) return shared;
      if (underWay >= maxUnderWay)
        return Promise.reject(new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 }));
      underWay += 1;
      const play = resolveHls(opened, episode, listener, at, requestId).finally(() => {
        underWay -= 1;
        decidingHls.delete(opened.playId);
      });
      decidingHls.set(opened.playId, play);
      return play;
    },
  });
}
