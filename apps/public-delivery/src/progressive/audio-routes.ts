import type { FactSink } from '../facts/fact-sink.ts';
import { canonicalFormat } from '@longwave/audio';
import { clipFormats } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { meter } from '@longwave/service-kit';
import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import type { IdentifyListener, Listener } from '../listeners/identify-listener.ts';
import type { OpenSegment } from '../segments/open-segment.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import { sendMedia, type SentMedia } from '../arrangements/send-media.ts';
import type { MeteredResponse } from '../arrangements/written-meter.ts';
import type { ChoosePlay, Play } from '../plays/choose-play.ts';
import type { BegunPlay } from '../plays/ended-plays.ts';
import type { FindPlay } from '../plays/find-play.ts';
import type { PlayTokens } from '../plays/play-token.ts';
import type { RunningPlays } from '../plays/running-plays.ts';
import { createOpenPlays, playMedia, type OpenPlay } from './open-plays.ts';
import { getHeader } from '../plays/play-table.ts';
import { findAudioByDigest, type FoundAudio, type PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { createLastKnown } from '../projection/last-known.ts';
import { parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';

export interface MediaRoutesOptions {
  readonly pool: Pool;
  readonly projection: Pick<RecentProjection, 'findAudioByAlias'>;
  readonly identify: IdentifyListener;
  readonly choosePlay: ChoosePlay;
  /** False for those whose downloads are never counted: bots, networks of machines, pages that preload, ourselves. */
  readonly mayCount: (listener: Listener) => boolean;
  readonly findPlay: FindPlay;
  readonly runningPlays: Pick<RunningPlays, 'watch'>;
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
const digestShape = /^[0-9a-f]{64}$/;

/** What an address of audio leads to, or 410 for what was archived and 404 for all else. */
function reachable(found: FoundAudio | undefined): Exclude<FoundAudio, { kind: 'ended' }> {
  if (!found) throw new Problem('not_found');
  if (found.kind === 'ended') throw new Problem('resource_gone');
  return found;
}

const hasAds = ({ binding }: Play): boolean => Object.keys(binding?.ads ?? {}).length > 0;

/** Generated headers, which never change, in memory. */
const headerBytesMax = 8 << 20;

/** `?download=1`: a browser shall save the file instead of playing it. */
const isDownload = ({ request }: Exchange): boolean => request.query['download'] === '1';

/** The media as it is asked for, under the name that the address gives it. */
const asked = (exchange: Exchange, media: SentMedia): SentMedia => {
  if (!isDownload(exchange)) return media;
  const disposition = `attachment; filename="${parameter(exchange, 'file', audioName)}"`;
  return { ...media, headers: { ...media.headers, 'content-disposition': disposition } };
};

/** Clean audio that is remembered for when the database is away. */
const digestsMax = 2_000;

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
    runningPlays,
    tokens,
    segments,
    artworks,
    facts,
    listsVersion,
    mediaUrl,
    now,
  } = options;

  const openPlay = createOpenPlays(pool, findPlay);
  const headers = new LRUCache<string, Buffer>({
    maxSize: headerBytesMax,
    sizeCalculation: ({ length }) => length || 1,
  });
  const redirects = meter().createCounter('longwave.delivery.redirects', {
    description: 'Enclosures that were answered with the address of their file',
  });
  const lastByDigest = createLastKnown<FoundAudio | undefined>(digestsMax);

  async function headerOf(digest: string): Promise<Buffer> {
    const known = headers.get(digest);
    if (known) return known;
    const bytes = await getHeader(pool, digest);
    headers.set(digest, bytes);
    return bytes;
  }

  const openPart = async (part: SentMedia['parts'][number]) => {
    if (part.store === 'artwork') return artworks.open(part.blob, part.blob_bytes);
    if (part.kind === 'header' || part.store === 'header') return fromMemory(await headerOf(part.blob));
    return segments.open(part.blob, part.blob_bytes);
  };

  const listenerOf = ({ request, startedAt }: Exchange): Listener => identify(request, startedAt);

  function send(
    exchange: Exchange,
    listener: Listener,
    { media, begun, late }: Omit<OpenPlay, 'begun'> & { readonly begun: Omit<BegunPlay, 'parts'> },
  ): Promise<void> {
    const { request, response, requestId, startedAt } = exchange;
    runningPlays.watch(media.counted.episodeId, { ...begun, parts: media.parts }, response);
    // Facts name it; who never asks for bytes leaves no name.
    facts.sawUserAgent(listener.userAgentDigest, listener.userAgent, startedAt);
    const metered: MeteredResponse = { requestId, method: request.method, startedAt, listener, late, listsVersion };
    return sendMedia(request, response, asked(exchange, media), metered, { openPart, facts, now });
  }

  function cleanMedia(episode: PlayableEpisode): SentMedia {
    const { workspaceId, podcastId, episodeId, publishedAt, rendition } = episode;
    const { digest, sizeBytes: length, durationMs } = rendition;
    return {
      etag: `"${digest}"`,
      modifiedAt: publishedAt,
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
          redirects.add(1, { outcome: 'outside' });
          response.writeHead(302, { location: found.url, 'cache-control': 'private, no-store', 'content-length': '0' });
          return void response.end();
        }
        const { episode } = found;
        const listener = listenerOf(exchange);
        // Who cannot be counted (bots, data centres) must not use up an advertiser's goal either.
        const onlyLooks = listener.onlyLooks || request.method === 'HEAD' || !mayCount(listener);
        const play = await choosePlay(episode, { ...listener, onlyLooks }, startedAt, requestId);
        // Another play has other bytes under the same address and the same date, so that the tag alone tells them apart.
        if (request.query['direct'] === '1')
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
      },
    },
    {
      name: 'arrangement.read',
      path: '/delivery/v1/p/:token/:file',
      serve: async (exchange) => {
        parameter(exchange, 'file', mp3Name);
        const play = await openPlay(String(exchange.request.params['token']), exchange.startedAt);
        await send(exchange, listenerOf(exchange), play);
      },
    },
    {
      name: 'clean_audio.read',
      path: '/delivery/v1/a/:digest/:file',
      serve: async (exchange) => {
        parameter(exchange, 'file', mp3Name);
        const digest = parameter(exchange, 'digest', digestShape);
        const found = reachable(await lastByDigest(digest, () => findAudioByDigest(pool, digest)));
        if (found.kind === 'outside') throw new Problem('not_found');
        const begun = { startedAt: exchange.startedAt, isBound: false };
        await send(exchange, listenerOf(exchange), { media: cleanMedia(found.episode), begun, late: false });
      },
    },
  ];
}
