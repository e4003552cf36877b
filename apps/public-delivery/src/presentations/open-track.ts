import {
  bitRates,
  composeTrack,
  createTrackReader,
  trackDigest,
  type BitRates,
  type TrackReader,
} from '@longwave/hls-media';
import type { IndexedTrack, PresentationDocument } from './presentation.ts';
import type { LoadIndex } from './load-index.ts';

/** A track with what is needed to send it. */
export interface OpenTrack {
  readonly media: TrackMedia;
  /** As `CODECS` of a playlist names it. */
  readonly codec: string;
  /** SHA-256 of its arrangement. */
  readonly digest: string;
  readonly reader: TrackReader;
  readonly rates: BitRates;
  /** Bytes of each blob of it. */
  readonly blobBytes: ReadonlyMap<string, number>;
}

/** What a track has; `iframe` are pictures for seeking. */
type TrackMedia = 'audio' | 'video' | 'iframe';

export const contentTypeOf = ({ media }: Pick<OpenTrack, 'media'>): string =>
  media === 'audio' ? 'audio/mp4' : 'video/mp4';

/** @param indexes digests of the indexes of the parts, in order */
export async function openTrack(
  track: PresentationDocument['audio']['track'],
  indexes: readonly string[],
  loadIndex: LoadIndex,
  media: TrackMedia = 'audio',
): Promise<OpenTrack> {
  const loaded = await Promise.all(indexes.map(loadIndex));
  const reader = createTrackReader(track, loaded);
  return {
    media,
    codec: track.codec,
    digest: trackDigest(track),
    reader,
    rates: bitRates(reader.index),
    blobBytes: new Map(track.parts.map(({ blob }, part) => [blob, loaded[part]!.bytes])),
  };
}

/** The track of one stored file alone. */
export const openFile = (
  { codec, digest, indexDigest, index }: IndexedTrack,
  loadIndex: LoadIndex,
  media: TrackMedia = 'audio',
): Promise<OpenTrack> => openTrack(composeTrack(codec, [{ digest, index }]), [indexDigest], loadIndex, media);
