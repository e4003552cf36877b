import type { FactSink } from '../facts/fact-sink.ts';
import { canonicalFormat } from '@longwave/audio';
import { clipFormats } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import type { IdentifyListener, Listener } from '../listener/identify-listener.ts';
import type { OpenSegment } from '../media/open-segment.ts';
import type { SegmentCache } from '../media/segment-cache.ts';
import { sendMedia, type SentMedia } from '../media/send-media.ts';
import type { MeteredResponse } from '../media/written-meter.ts';
import type { ChoosePlay } from '../play/choose-play.ts';
import type { FindPlay } from '../play/find-play.ts';
import type { PlayTokens } from '../play/play-token.ts';
import { createOpenPlays, playMedia } from '../play/open-plays.ts';
import { getHeader } from '../play/play-table.ts';
import { findAudioByDigest, type FoundAudio, type PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { createRecentlyUsed } from '../recently-used.ts';
import { parameter } from './parameter.ts';
import type { Exchange, Route } from './route.ts';

export interface MediaRoutesOptions {
  readonly pool: Pool;
  readonly projection: Pick<RecentProjection, 'findAudioByAlias'>;
  readonly identify: IdentifyListener;
  readonly choosePlay: ChoosePlay;
  /** False for those whose downloads are never counted: bots, networks of machines, pages that preload, ourselves. */
  readonly mayCount: (listener: Listener) => boolean;
  readonly findPlay: FindPlay;
  readonly tokens: Pick<PlayTokens, 'mintPlay'>;
  readonly segments: SegmentCache;
  readonly artworks: SegmentCache;
  readonly facts: FactSink;
  readonly listsVersion: string;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  readonly now: () => Date;
}

const mp3Name = /^[A-Za-z0-9_-]{1,80}\.mp3$/;
/** An enclosure whose clip lies outside has the extension of the clip. */
const audioName = new RegExp(`^[A-Za-z0-9_-]{1,80}\\.(${clipFormats.join('|')})$`);
const tokenShape = /^t1\.[A-Za-z0-9_-]{40,400}$/;
const digestShape = /^[0-9a-f]{64}$/;

/** What an address of audio leads to, or 410 for what was archived and 404 for all else. */
function reachable(found: FoundAudio | undefined): Exclude<FoundAudio, { kind: 'ended' }> {
  if (!found) throw new Problem('not_found');
  if (found.kind === 'ended') throw new Problem('resource_gone');
  return found;
}

/** Generated headers, which never change, in memory. */
const headerBytesMax = 8 << 20;

const fromMemory = (bytes: Buffer): OpenSegment => ({
  read: async function* (from, to) {
    yield bytes.subarray(from, to);
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

/** Enclosures, arrangements and clean audio. */
export function mediaRoutes(options: MediaRoutesOptions): readonly Route[] {
  const {
    pool,
    projection,
    identify,
    choosePlay,
    mayCount,
    findPlay,
    tokens,
    segments,
    artworks,
    facts,
    listsVersion,
    mediaUrl,
    now,
  } = options;

  const openPlay = createOpenPlays(pool, findPlay);
  const headers = createRecentlyUsed<Buffer>(headerBytesMax);

  async function headerOf(digest: string): Promise<Buffer> {
    const known = headers.find(digest);
    if (known) return known;
    const bytes = await getHeader(pool, digest);
    headers.keep(digest, bytes, bytes.length);
    return bytes;
  }

  const openPart = async (part: SentMedia['parts'][number]) => {
    if (part.store === 'artwork') return artworks.open(part.blob, part.blob_bytes);
    if (part.kind === 'header') return fromMemory(await headerOf(part.blob));
    return segments.open(part.blob, part.blob_bytes);
  };

  function listenerOf({ request, startedAt }: Exchange): Listener {
    const listener = identify(request, startedAt);
    facts.sawUserAgent(listener.userAgentDigest, listener.userAgent, startedAt);
    return listener;
  }

  function send(exchange: Exchange, listener: Listener, media: SentMedia, late: boolean): Promise<void> {
    const { request, response, requestId, startedAt } = exchange;
    const metered: MeteredResponse = { requestId, method: request.method, startedAt, listener, late, listsVersion };
    return sendMedia(request, response, media, metered, { openPart, facts, now });
  }

  function cleanMedia(episode: PlayableEpisode): SentMedia {
    const { workspaceId, podcastId, episodeId, publishedAt, rendition } = episode;
    const { digest, sizeBytes: length, durationMs } = rendition;
    return {
      etag: `"${digest}"`,
      parts: [{ blob: digest, blob_bytes: length, from: 0, offset: 0, length, kind: 'content' }],
      counted: {
        ...{ workspaceId, podcastId, episodeId, publishedAt },
        arrangementId: digest,
        totalBytes: length,
        parts: [{ kind: 'content', from: 0, to: length, duration_ms: durationMs }],
      },
      headers: { 'content-type': canonicalFormat.contentType, 'cache-control': 'public, max-age=31536000, immutable' },
    };
  }

  return [
    {
      name: 'enclosure.read',
      path: '/delivery/v1/e/:alias/:file',
      serve: async (exchange) => {
        const { request, response, startedAt, requestId } = exchange;
        const alias = parameter(exchange, 'alias', tokenShape);
        parameter(exchange, 'file', audioName);
        const found = reachable(await projection.findAudioByAlias(alias, startedAt));
        if (found.kind === 'outside') {
          // Its bytes never pass here, so there is nothing to count.
          response.writeHead(302, { location: found.url, 'cache-control': 'private, no-store', 'content-length': '0' });
          return void response.end();
        }
        const { episode } = found;
        const listener = listenerOf(exchange);
        // Who cannot be counted (bots, data centres) must not use up an advertiser's goal either.
        const onlyLooks = listener.onlyLooks || request.method === 'HEAD' || !mayCount(listener);
        const play = await choosePlay(episode, { ...listener, onlyLooks }, startedAt, requestId);
        if (request.query['direct'] === '1')
          return send(exchange, listener, playMedia(play, 'private, no-store'), false);
        response.writeHead(302, {
          location: `${mediaUrl}/delivery/v1/p/${tokens.mintPlay(play, startedAt)}/${episode.fileName}.mp3`,
          'cache-control': 'private, no-store',
          'accept-ranges': 'bytes',
          'content-length': '0',
        });
        response.end();
      },
    },
    {
      name: 'arrangement.read',
      path: '/delivery/v1/p/:token/:file',
      serve: async (exchange) => {
        parameter(exchange, 'file', mp3Name);
        const { media, late } = await openPlay(String(exchange.request.params['token']), exchange.startedAt);
        await send(exchange, listenerOf(exchange), media, late);
      },
    },
    {
      name: 'clean_audio.read',
      path: '/delivery/v1/a/:digest/:file',
      serve: async (exchange) => {
        parameter(exchange, 'file', mp3Name);
        const found = reachable(await findAudioByDigest(pool, parameter(exchange, 'digest', digestShape)));
        if (found.kind === 'outside') throw new Problem('not_found');
        await send(exchange, listenerOf(exchange), cleanMedia(found.episode), false);
      },
    },
  ];
}
