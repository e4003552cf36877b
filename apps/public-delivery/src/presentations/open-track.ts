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
  /** SHA-256 of its arrangement. */
  readonly digest: string;
  readonly reader: TrackReader;
  readonly rates: BitRates;
  /** Bytes of each blob of it. */
  readonly blobBytes: ReadonlyMap<string, number>;
}

/** @param indexes digests of the indexes of the parts, in order */
export async function openTrack(
  track: PresentationDocument['audio']['track'],
  indexes: readonly string[],
  loadIndex: LoadIndex,
): Promise<OpenTrack> {
  const loaded = await Promise.all(indexes.map(loadIndex));
  const reader = createTrackReader(track, loaded);
  return {
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
): Promise<OpenTrack> => openTrack(composeTrack(codec, [{ digest, index }]), [indexDigest], loadIndex);
