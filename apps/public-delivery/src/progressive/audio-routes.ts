import { clipFormats } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { meter } from '@longwave/service-kit';
import type { PartSource } from '../arrangements/part-source.ts';
import { sendMedia, type SentMedia } from '../arrangements/send-media.ts';
import type { MeteredResponse } from '../arrangements/written-meter.ts';
import type { FactSink } from '../facts/fact-sink.ts';
import { parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import type { IdentifyListener, Listener } from '../listeners/identify-listener.ts';
import type { Play } from '../plays/bound-plays.ts';
import type { ChoosePlay } from '../plays/choose-play.ts';
import type { FindPlay } from '../plays/find-play.ts';
import type { PlayTokens } from '../plays/play-token.ts';
import type { RunningPlays } from '../plays/running-plays.ts';
import { findAudioByDigest, type FoundAudio } from '../projection/content-table.ts';
import { createLastKnown } from '../projection/last-known.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { createOpenPlays, type OpenPlay } from './open-plays.ts';
import { cleanMedia, playMedia } from './sent-media.ts';

export interface AudioRoutesOptions {
  readonly pool: Pool;
  readonly projection: Pick<RecentProjection, 'findAudioByAlias'>;
  readonly identify: IdentifyListener;
  readonly choosePlay: ChoosePlay;
  /** False for listeners whose downloads are never counted: bots, networks of machines, pages that preload, ourselves. */
  readonly mayCount: (listener: Listener) => boolean;
  readonly findPlay: FindPlay;
  readonly runningPlays: Pick<RunningPlays, 'watch'>;
  readonly tokens: Pick<PlayTokens, 'mintPlay'>;
  readonly partSource: PartSource;
  readonly facts: FactSink;
  readonly listsVersion: string;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  readonly now: () => Date;
}

const mp3Name = /^[A-Za-z0-9_-]{1,80}\.mp3$/;
/** An enclosure whose clip is hosted outside has the extension of the clip. */
const audioName = new RegExp(`^[A-Za-z0-9_-]{1,80}\\.(${clipFormats.join('|')})$`);
const digestShape = /^[0-9a-f]{64}$/;

/** Throws `resource_gone` for audio that was archived, `not_found` for audio that is not public. */
function assertReachable(found: FoundAudio | undefined): Exclude<FoundAudio, { kind: 'ended' }> {
  if (!found) throw new Problem('not_found');
  if (found.kind === 'ended') throw new Problem('resource_gone');
  return found;
}

const hasAds = ({ binding }: Play): boolean => Object.keys(binding?.ads ?? {}).length > 0;

/** `?download=1`: a browser shall save the file instead of playing it. */
const isDownload = ({ query }: Exchange): boolean => query['download'] === '1';

/** Names the file for a browser that saves it. */
const withFileName = (exchange: Exchange, media: SentMedia): SentMedia => {
  if (!isDownload(exchange)) return media;
  const disposition = `attachment; filename="${parameter(exchange, 'file', audioName)}"`;
  return { ...media, headers: { ...media.headers, 'content-disposition': disposition } };
};

/** Clean audio that is remembered for when the database is away. */
const maxDigests = 2_000;

/** Enclosures, arrangements and clean audio. */
export function audioRoutes(options: AudioRoutesOptions): readonly Route[] {
  const { pool, projection, identify, choosePlay, mayCount, findPlay, runningPlays, tokens, partSource } = options;
  const { facts, listsVersion, mediaUrl, now } = options;
  const openPlay = createOpenPlays(pool, findPlay);
  const redirects = meter().createCounter('longwave.delivery.redirects', {
    description: 'Enclosures that were answered with the address of their file',
  });
  const lastByDigest = createLastKnown<FoundAudio | undefined>(maxDigests);

  const listenerOf = ({ request, startedAt }: Exchange): Listener => identify(request, startedAt);

  function send(exchange: Exchange, listener: Listener, { media, begun, late }: OpenPlay): Promise<void> {
    const { request, response, requestId, startedAt } = exchange;
    const { method = 'GET' } = request;
    runningPlays.watch(media.counted.episodeId, { ...begun, parts: media.parts }, response);
    // Facts name the user agent by its digest. A client that requests no bytes is not recorded.
    facts.sawUserAgent(listener.userAgentDigest, listener.userAgent, startedAt);
    const metered: MeteredResponse = { requestId, method, startedAt, listener, late, listsVersion };
    return sendMedia(request, response, withFileName(exchange, media), metered, { partSource, facts, now });
  }

  async function readEnclosure(exchange: Exchange): Promise<void> {
    const { request, response, query, startedAt, requestId } = exchange;
    const alias = parameter(exchange, 'alias', tokenShape);
    parameter(exchange, 'file', audioName);
    const found = assertReachable(await projection.findAudioByAlias(alias, startedAt));
    if (found.kind === 'outside') {
      // Its bytes never pass here, so there is nothing to count.
      redirects.add(1, { outcome: 'outside' });
      response.writeHead(302, { location: found.url, 'cache-control': 'private, no-store', 'content-length': '0' });
      return void response.end();
    }
    const { episode } = found;
    const listener = listenerOf(exchange);
    // A listener that is not counted (a bot, a data centre) must not use up an advertiser's goal either.
    const isDryRun = listener.isDryRun || request.method === 'HEAD' || !mayCount(listener);
    const play = await choosePlay(episode, { ...listener, isDryRun }, startedAt, requestId);
    // Another play has other bytes under the same address and the same date, so that the tag alone tells them apart.
    if (query['direct'] === '1')
      return send(exchange, listener, {
        media: { ...playMedia(play, 'private, no-store'), modifiedAt: undefined },
        begun: { startedAt: play.binding?.startedAt ?? startedAt, isBound: play.binding !== undefined },
        late: false,
      });
    redirects.add(1, { outcome: hasAds(play) ? 'with_ads' : 'without_ads' });
    response.writeHead(302, {
      location: `${mediaUrl}/delivery/v1/p/${tokens.mintPlay(play, startedAt)}/${episode.fileName}.mp3${isDownload(exchange) ? '?download=1' : ''}`,
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
      'content-length': '0',
    });
    response.end();
  }

  async function readArrangement(exchange: Exchange): Promise<void> {
    parameter(exchange, 'file', mp3Name);
    const play = await openPlay(String(exchange.params['token']), exchange.startedAt);
    await send(exchange, listenerOf(exchange), play);
  }

  async function readCleanAudio(exchange: Exchange): Promise<void> {
    parameter(exchange, 'file', mp3Name);
    const digest = parameter(exchange, 'digest', digestShape);
    const found = assertReachable(await lastByDigest(digest, () => findAudioByDigest(pool, digest)));
    if (found.kind === 'outside') throw new Problem('not_found');
    const begun = { startedAt: exchange.startedAt, isBound: false };
    await send(exchange, listenerOf(exchange), { media: cleanMedia(found.episode), begun, late: false });
  }

  return [
    { name: 'enclosure.read', path: '/delivery/v1/e/:alias/:file', get: readEnclosure },
    { name: 'arrangement.read', path: '/delivery/v1/p/:token/:file', get: readArrangement },
    { name: 'clean_audio.read', path: '/delivery/v1/a/:digest/:file', get: readCleanAudio },
  ];
}
