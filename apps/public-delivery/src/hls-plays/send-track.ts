import { sendMedia, type MediaSource } from '../arrangements/send-media.ts';
import { members, type CountedFile } from '../arrangements/written-meter.ts';
import { countedAd } from '../decisions/play-ads.ts';
import { toFactLine } from '../facts/fact-line.ts';
import type { FactSink } from '../facts/fact-sink.ts';
import type { Exchange } from '../http/route.ts';
import type { IdentifyListener, Listener } from '../listeners/identify-listener.ts';
import type { HlsPlay } from '../plays/hls-play-table.ts';
import type { RunningPlays } from '../plays/running-plays.ts';
import { contentTypeOf, type OpenTrack } from '../presentations/open-track.ts';
import { readTrack } from '../presentations/read-track.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { BoundAd } from './bound-ads.ts';
import { describeTrack } from './describe-track.ts';
import type { FoundHlsPlay } from './find-hls-play.ts';

export interface SendTrackOptions {
  readonly identify: IdentifyListener;
  readonly segments: Pick<SegmentCache, 'open' | 'find'>;
  readonly runningPlays: Pick<RunningPlays, 'watch'>;
  readonly facts: FactSink;
  readonly listsVersion: string;
  readonly now: () => Date;
}

/** Sends ranges of a track of a play, or of one of its ads, and records what was written (docs/counting.md). */
export type SendTrack = (exchange: Exchange, found: FoundHlsPlay, track: OpenTrack, ad?: BoundAd) => Promise<void>;

/** A segment of sound has 145 kB: it goes out in one write when it is in memory. */
const maxAtOnceBytes = 256 * 1024;
const dayMs = 86_400_000;
/** Tracks that are remembered as described; a repetition is harmless. */
const maxDescribed = 50_000;
const cacheControl = 'private, max-age=31536000, immutable';

export function createSendTrack(options: SendTrackOptions): SendTrack {
  const { identify, segments, runningPlays, facts, listsVersion, now } = options;
  const described = new Set<string>();

  const sourceOf = (track: OpenTrack): MediaSource => ({
    read: async function* ({ from, to }) {
      let at = from;
      for await (const bytes of readTrack(track, from, to, segments)) {
        yield { bytes, at, endsPart: at + bytes.length === to };
        at += bytes.length;
      }
    },
    find: ({ from, to }) => {
      if (to - from > maxAtOnceBytes) return undefined;
      const found: Buffer[] = [];
      for (const slice of track.reader.slices(from, to)) {
        const bytes = 'bytes' in slice ? [slice.bytes] : segments.find(slice.blob, slice.from, slice.to);
        if (!bytes) return undefined;
        found.push(...bytes);
      }
      return found;
    },
  });

  /** Tells which bytes of a track play when, the first time that this process sends it. */
  function describe(track: OpenTrack, at: Date): void {
    const { digest } = track;
    if (described.has(digest)) return;
    if (described.size >= maxDescribed) described.clear();
    described.add(digest);
    for (const fact of describeTrack(track, at)) facts.add(toFactLine(fact), 0);
  }

  /** By the ad, or else by the play whose content is sent, and the digests of its tracks. */
  const counted = new WeakMap<BoundAd | HlsPlay, Map<string, CountedFile>>();

  function countedFile(
    found: FoundHlsPlay,
    track: OpenTrack,
    listener: Listener,
    ad: BoundAd | undefined,
    at: Date,
  ): CountedFile {
    const isOfToday = Math.floor(found.play.openedAt.getTime() / dayMs) === Math.floor(at.getTime() / dayMs);
    const addressKey = found.late || isOfToday ? undefined : listener.addressKeys[1];
    const make = () => describeFile(found, track, addressKey, ad);
    if (addressKey !== undefined) return make();
    const files = counted.get(ad ?? found.play) ?? new Map<string, CountedFile>();
    counted.set(ad ?? found.play, files);
    const file = files.get(track.digest) ?? make();
    files.set(track.digest, file);
    return file;
  }

  /** @param addressKey that of the day on which the play was opened; undefined when it is the address key of the request, and late */
  function describeFile(
    { play, presentation }: FoundHlsPlay,
    track: OpenTrack,
    addressKey: string | undefined,
    ad: BoundAd | undefined,
  ): CountedFile {
    const { episodeId, playId, publishedAt } = play;
    const totalBytes = track.reader.index.bytes;
    const text = members({
      workspace_id: presentation.workspaceId,
      podcast_id: presentation.podcastId,
      episode_id: episodeId,
      total_bytes: totalBytes,
      published_at: publishedAt.toISOString(),
      track: track.digest,
      presentation: presentation.digest,
      play_id: playId,
      ...(addressKey !== undefined && { play_address_key: addressKey }),
      ...(ad && { ad: countedAd(ad.counted) }),
    });
    return { kind: 'media_range_served', episodeId, totalBytes, text };
  }

  return (exchange, found, track, ad) => {
    const { request, response, requestId, startedAt } = exchange;
    const { method = 'GET' } = request;
    const listener = identify(request, startedAt);
    runningPlays.watch(found.play.episodeId, found.begun, response);
    facts.sawUserAgent(listener.userAgentDigest, listener.userAgent, startedAt);
    describe(track, startedAt);
    return sendMedia(
      request,
      response,
      {
        etag: `"${track.digest}"`,
        modifiedAt: undefined,
        headers: { 'content-type': contentTypeOf(track), 'cache-control': cacheControl },
        source: sourceOf(track),
        counted: countedFile(found, track, listener, ad, startedAt),
      },
      { requestId, method, startedAt, listener, late: found.late, listsVersion },
      { facts, now },
    );
  };
}
