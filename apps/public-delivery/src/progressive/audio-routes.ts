import { clipFormats } from '@longwave/command-catalog/delivered';
import { isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { digestShape, parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import type { FindPlay } from '../plays/find-play.ts';
import { findCleanAudio, type FoundAudio } from '../projection/content-table.ts';
import { areOver, holdIn } from '../projection/hosted-elsewhere.ts';
import { createLastKnown } from '../projection/last-known.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { PlatformAddress } from '../projection/address-table.ts';
import type { AnswerEntry } from '../hls-plays/answer-entry.ts';
import type { AnswerAudio } from './answer-audio.ts';
import { createOpenPlays } from './open-plays.ts';
import { cleanMedia } from './sent-media.ts';

export interface AudioRoutesOptions {
  readonly pool: Pool;
  readonly projection: Pick<RecentProjection, 'findAudioByAlias' | 'findPlatformAddress'>;
  readonly findPlay: FindPlay;
  readonly answer: AnswerAudio;
  readonly answerEntry: AnswerEntry;
}

const mp3Name = /^[A-Za-z0-9_-]{1,80}\.mp3$/;
/** An enclosure whose clip is hosted outside has the extension of the clip. */
const audioName = new RegExp(`^[A-Za-z0-9_-]{1,80}\\.(${clipFormats.join('|')})$`);
const playlistName = /^[A-Za-z0-9_-]{1,80}\.m3u8$/;
/** The parts of an address that another platform chose. */
const hostShape = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const slugFile = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,119}\.mp3$/;

/** The episode of an address of clean audio; older addresses name none. Throws `not_found` for what is no id of one. */
function namedEpisode({ query: { e } }: Exchange): string | undefined {
  if (e === undefined) return undefined;
  if (typeof e !== 'string' || !isId(e, 'ep')) throw new Problem('not_found');
  return e;
}

/** A play, a redirect to the clean audio, or that audio itself. */
type Presentation = 'play' | 'clean' | 'file';

/** Clean audio that is remembered for when the database is away. */
const maxCleanAudio = 2_000;

/** Enclosures, entries of HLS, addresses of other platforms, arrangements and clean audio. */
export function audioRoutes(options: AudioRoutesOptions): readonly Route[] {
  const { pool, projection, findPlay, answer, answerEntry } = options;
  const openPlay = createOpenPlays(pool, findPlay);
  const lastCleanAudio = createLastKnown<FoundAudio | undefined>(maxCleanAudio);

  const begin: Readonly<Record<Presentation, AnswerAudio['play']>> = {
    play: answer.play,
    clean: answer.clean,
    file: (exchange, listener, episode) => {
      const begun = { startedAt: exchange.startedAt, isBound: false };
      return answer.send(exchange, listener, { media: cleanMedia(episode), begun, late: false });
    },
  };

  /** Throws `not_found` when the platform has no file, or has revoked it. */
  function leadToMaster(exchange: Exchange, masterUrl: string | undefined): void {
    if (masterUrl === undefined)
      throw new Problem(
        'not_found',
        'Nothing is delivered at this address now: it is paused, not ready, or its host has taken it back.',
      );
    answer.redirect(exchange, masterUrl);
  }

  /**
   * Answers with a play or with clean audio; false, and no answer, when the episode is hidden and this listener has not begun. Outside of the
   * rights of the platform its own file answers; plays that began before the rights were over go on. Nothing is bound of clean audio, so
   * nobody is known to have begun it: only what is being sent goes on.
   */
  async function serve(
    exchange: Exchange,
    found: Extract<FoundAudio, { episode: unknown }>,
    how: Presentation,
  ): Promise<boolean> {
    const listener = answer.listenerOf(exchange);
    const { rights } = found.episode;
    if (rights && !holdIn(rights, listener.country)) {
      if (found.kind === 'hidden') return false;
      leadToMaster(exchange, rights.masterUrl);
      return true;
    }
    const isOver = rights !== undefined && areOver(rights, exchange.startedAt);
    if (found.kind === 'ours' && !isOver) {
      await begin[how](exchange, listener, found.episode);
      return true;
    }
    if (how === 'play' && (await answer.resume(exchange, listener, found.episode))) return true;
    if (!isOver || rights.masterUrl === undefined) return false;
    answer.redirect(exchange, rights.masterUrl);
    return true;
  }

  async function readEnclosure(exchange: Exchange): Promise<void> {
    const alias = parameter(exchange, 'alias', tokenShape);
    const isPlaylist = playlistName.test(String(exchange.params['file']));
    if (!isPlaylist) parameter(exchange, 'file', audioName);
    const found = await projection.findAudioByAlias(alias, exchange.startedAt);
    if (isPlaylist) return answerEntry(exchange, found);
    if (found?.kind === 'ended') throw new Problem('resource_gone');
    if (found?.kind === 'outside') return answer.redirect(exchange, found.url);
    if (!found || !(await serve(exchange, found, 'play'))) throw new Problem('not_found');
  }

  /** What an active address answers by its route; false, and no answer, when nothing serves. */
  async function answerByRoute(exchange: Exchange, { route, audio, masterUrl }: PlatformAddress): Promise<boolean> {
    if (route === 'source') {
      leadToMaster(exchange, masterUrl);
      return true;
    }
    if (audio?.kind !== 'ours' && audio?.kind !== 'hidden') return false;
    return serve(exchange, audio, route === 'platform_controlled' ? 'play' : 'clean');
  }

  async function readPlatformAddress(exchange: Exchange): Promise<void> {
    const host = parameter(exchange, 'host', hostShape);
    const pathSlug = parameter(exchange, 'file', slugFile).slice(0, -'.mp3'.length);
    const address = await projection.findPlatformAddress(host, pathSlug, exchange.startedAt);
    if (!address) throw new Problem('not_found');
    if (address.state === 'retired') throw new Problem('resource_gone');
    if (address.state === 'active' && (await answerByRoute(exchange, address))) return;
    leadToMaster(exchange, address.whenUnavailable === 'source' ? address.masterUrl : undefined);
  }

  async function readArrangement(exchange: Exchange): Promise<void> {
    parameter(exchange, 'file', mp3Name);
    const play = await openPlay(String(exchange.params['token']), exchange.startedAt);
    await answer.send(exchange, answer.listenerOf(exchange), play);
  }

  async function readCleanAudio(exchange: Exchange): Promise<void> {
    parameter(exchange, 'file', mp3Name);
    const digest = parameter(exchange, 'digest', digestShape);
    const episodeId = namedEpisode(exchange);
    const found = await lastCleanAudio(`${digest}/${episodeId ?? ''}`, () =>
      findCleanAudio(pool, { digest, episodeId }),
    );
    if (found?.kind === 'ended') throw new Problem('resource_gone');
    if (!found || found.kind === 'outside' || !(await serve(exchange, found, 'file'))) throw new Problem('not_found');
  }

  return [
    { name: 'enclosure.read', path: '/delivery/v1/e/:alias/:file', get: readEnclosure },
    { name: 'platform_address.read', path: '/delivery/v1/x/:host/:file', get: readPlatformAddress },
    { name: 'arrangement.read', path: '/delivery/v1/p/:token/:file', get: readArrangement },
    { name: 'clean_audio.read', path: '/delivery/v1/a/:digest/:file', get: readCleanAudio },
  ];
}
