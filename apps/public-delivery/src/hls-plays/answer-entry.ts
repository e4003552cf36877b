import { databaseOutage } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Exchange } from '../http/route.ts';
import { sendText } from '../http/send-text.ts';
import type { FoundAudio, HiddenEpisode, PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { HlsTokens } from './hls-tokens.ts';
import type { OpenHlsPlay, ResumeHlsPlay } from './open-hls-play.ts';
import type { IdentifyListener } from '../listeners/identify-listener.ts';
import type { OnlyLooks } from '../listeners/only-looks.ts';
import type { HlsPlay } from '../plays/hls-play-table.ts';
import type { NewPlayLimit } from '../plays/new-play-limit.ts';
import type { OpenPresentation, OpenPresentations } from '../presentations/open-presentation.ts';
import { playlistType, renderMain } from '../presentations/presentation-files.ts';

export interface AnswerEntryOptions {
  readonly projection: Pick<RecentProjection, 'findPresentedDigest'>;
  readonly presentations: OpenPresentations;
  readonly identify: IdentifyListener;
  readonly onlyLooks: OnlyLooks;
  readonly mayBegin: NewPlayLimit;
  readonly openPlay: OpenHlsPlay;
  readonly resumePlay: ResumeHlsPlay;
  readonly tokens: Pick<HlsTokens, 'mintPresentation'>;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

/**
 * Answers the lasting address of an episode by HLS: leads to the play of the listener or, with `?direct=1`, answers with its multivariant
 * playlist itself. Who only looks (HEAD, prefetches, Apple's Scout, bots, networks of machines), who begins too many plays, and everybody while
 * the database is away gets the presentation for everybody, which has no breaks. Rejects with `resource_gone` for an archived episode, with `not_found` for one that has no
 * presentation, or is not public and was not begun by this listener.
 */
export type AnswerEntry = (exchange: Exchange, found: FoundAudio | undefined) => Promise<void>;

const lasting = 'private, no-store';

export function createAnswerEntry(options: AnswerEntryOptions): AnswerEntry {
  const { projection, presentations, identify, onlyLooks, mayBegin, openPlay, resumePlay, tokens, mediaUrl } = options;

  const folderOf = (play: HlsPlay) => `/delivery/v1/hp/${tokens.mintPresentation(play)}/`;

  /** The folder of the play of the listener, or of the presentation for everybody. */
  async function folderFor(
    { request, startedAt }: Exchange,
    episode: PlayableEpisode,
    presentation: OpenPresentation,
  ): Promise<string> {
    const clean = `/delivery/v1/h/${presentation.digest}/`;
    const listener = identify(request, startedAt);
    if (onlyLooks(request, listener)) return clean;
    try {
      const mayOpen = () => listener.addressSafe || mayBegin(listener.addressKey, startedAt);
      const play = await openPlay(episode, presentation, listener, startedAt, mayOpen);
      return play ? folderOf(play) : clean;
    } catch (error) {
      if (!databaseOutage(error)) throw error;
      return clean;
    }
  }

  async function answer(exchange: Exchange, folder: string, presentation: OpenPresentation): Promise<void> {
    if (exchange.query['direct'] === '1')
      return sendText(exchange, renderMain(presentation, folder), {
        ...{ 'content-type': playlistType, 'cache-control': lasting },
      });
    const location = `${mediaUrl}${folder}main.m3u8`;
    exchange.response.writeHead(302, { location, 'cache-control': lasting, 'content-length': '0' }).end();
  }

  /** A listener who began within 24 h goes on. */
  async function resume(exchange: Exchange, episode: HiddenEpisode): Promise<void> {
    const { request, startedAt } = exchange;
    const play = await resumePlay(episode, identify(request, startedAt), startedAt);
    const presentation = play && (await presentations.find(play.presentation));
    if (!presentation) throw new Problem('not_found');
    await answer(exchange, folderOf(play), presentation);
  }

  return async (exchange, found) => {
    if (found?.kind === 'ended') throw new Problem('resource_gone');
    if ((found?.kind !== 'ours' && found?.kind !== 'hidden') || found.episode.rights) throw new Problem('not_found');
    if (found.kind === 'hidden') return resume(exchange, found.episode);
    const { episodeId, rendition } = found.episode;
    const digest = await projection.findPresentedDigest(episodeId, exchange.startedAt);
    const presentation = digest === undefined ? undefined : await presentations.find(digest);
    // The audio was replaced a moment ago.
    if (presentation?.renditionDigest !== rendition.digest) throw new Problem('not_found');
    await answer(exchange, await folderFor(exchange, found.episode, presentation), presentation);
  };
}
