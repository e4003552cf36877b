import { hlsAudioFormat, hlsPictureFormat, type AdPicture, type AdTrack, type PlanLineItem } from '@longwave/events';
import type { TimeWindow } from './index-times.ts';

/** One prepared stream: the same words at one loudness. */
export interface IndexedStream {
  /** SHA-256 (hex) of the prepared segment. */
  readonly segmentDigest: string;
  readonly sizeBytes: number;
  readonly durationMs: number;
  /** Measured, integrated (ITU-R BS.1770); undefined when it could not be measured. */
  readonly loudnessLufs: number | undefined;
  /** The same sound for HLS; undefined when none was made. */
  readonly hls: AdTrack | undefined;
}

type PlanCreative = PlanLineItem['creatives'][number];

/** One creative in one stream format. */
export interface IndexedCreative {
  readonly creativeId: string;
  readonly weight: number;
  readonly sequenceNo: number;
  /** Undefined when it serves as long as its line item. */
  readonly window: TimeWindow | undefined;
  readonly place: PlanCreative['place'];
  readonly production: PlanCreative['production'];
  readonly clickUrl: string | null;
  /** Its pictures for HLS; undefined when none were made. */
  readonly pictures: readonly AdPicture[] | undefined;
  /** At least one; several differ in loudness alone. */
  readonly streams: readonly IndexedStream[];
}

/** Target of podcasts where nothing is known (Apple Podcasts audio requirements: −16 LUFS ±1). */
const usualLoudnessLufs = -16;

/** Unix time in ms of an RFC 3339 text. Throws `RangeError` naming what is no instant. */
function parseInstant(text: string, owner: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new RangeError(`The window of ${owner} is no instant: ${text.slice(0, 40)}`);
  return ms;
}

export const parseWindow = ({ start, end }: { start: string; end: string }, owner: string): TimeWindow => ({
  startMs: parseInstant(start, owner),
  endMs: parseInstant(end, owner),
});

/**
 * The name of the renditions that a play needs of each ad: the stream format of its file, then every other format in order.
 * @param others may name the file's format again
 */
export function renditionsKey(streamFormat: string, others: readonly string[] = []): string {
  const more = others.filter((format) => format !== streamFormat);
  return more.length === 0 ? streamFormat : [streamFormat, ...more.sort()].join(' ');
}

/** Per `renditionsKey` the creatives that have all of them at every loudness: once each, however many loudnesses are prepared. */
export function indexCreatives(line: PlanLineItem): ReadonlyMap<string, readonly IndexedCreative[]> {
  const byRenditions = new Map<string, IndexedCreative[]>();
  for (const { creative_id: creativeId, media, window, ...creative } of line.creatives) {
    const common = {
      creativeId,
      weight: creative.weight,
      sequenceNo: creative.sequence_no,
      window: window ? parseWindow(window, creativeId) : undefined,
      place: creative.place,
      production: creative.production,
      clickUrl: creative.click_url,
      pictures: creative.pictures,
    };
    for (const [format, streams] of Map.groupBy(media, (one) => one.stream_format)) {
      const indexed = { ...common, streams: streams.map(indexStream) };
      const audio = indexed.streams.every(({ hls }) => hls) ? [[hlsAudioFormat]] : [];
      const pictures = creative.pictures ? [[hlsPictureFormat]] : [];
      const both = audio.length > 0 && pictures.length > 0 ? [[hlsAudioFormat, hlsPictureFormat]] : [];
      const keys = [[], ...audio, ...pictures, ...both].map((others) => renditionsKey(format, others));
      for (const key of keys) {
        const list = byRenditions.get(key);
        if (list) list.push(indexed);
        else byRenditions.set(key, [indexed]);
      }
    }
  }
  return byRenditions;
}

function indexStream(media: PlanCreative['media'][number]): IndexedStream {
  return {
    segmentDigest: media.segment_digest,
    sizeBytes: media.size_bytes,
    durationMs: media.duration_ms,
    loudnessLufs: media.loudness_lufs ?? undefined,
    hls: media.hls,
  };
}

/**
 * The stream whose loudness is nearest to the content's, of two as near the quieter; where the content's is unknown the one
 * nearest to −16 LUFS. A stream that was never measured serves only when no other does.
 * @param contentLufs integrated loudness of the content; undefined when unknown
 */
export function nearestStream({ streams }: IndexedCreative, contentLufs = usualLoudnessLufs): IndexedStream {
  let nearest = streams[0]!;
  for (const stream of streams) {
    const [distance, least] = [distanceOf(stream, contentLufs), distanceOf(nearest, contentLufs)];
    const quieter = distance === least && (stream.loudnessLufs ?? 0) < (nearest.loudnessLufs ?? 0);
    if (distance < least || quieter) nearest = stream;
  }
  return nearest;
}

const distanceOf = ({ loudnessLufs }: IndexedStream, contentLufs: number) =>
  loudnessLufs === undefined ? Infinity : Math.abs(loudnessLufs - contentLufs);
