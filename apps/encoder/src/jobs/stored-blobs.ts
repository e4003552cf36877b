import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ChangesInput } from '@longwave/command-catalog';
import type { ObjectStore } from '@longwave/object-store';
import type { EncodedPictures } from '../media/encode-pictures.ts';
import type { EncodedTrack } from '../media/encode-track.ts';
import { untilAborted } from './until-aborted.ts';

/** Key of an immutable media blob. */
export const blobKey = (sha256: string): string => `media/${sha256}`;

/** Far more than a day of sound needs; a store that takes longer is in trouble. */
const maxStoreMs = 30 * 60_000;

/**
 * Stores a local file under its digest; gives up at once when `signal` aborts.
 * No job removes a blob that it stored: another job with equal bytes uses the same key and may be about to report it. The sweep
 * removes old blobs that nothing names (docs/operate.md#files-that-nothing-names); every put makes the object new again.
 */
export async function storeFile(
  store: ObjectStore,
  blob: { readonly key: string; readonly path: string; readonly contentType: string },
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(blob.path);
  const body = createReadStream(blob.path);
  const either = AbortSignal.any([signal, AbortSignal.timeout(maxStoreMs)]);
  try {
    await untilAborted(store.put(blob.key, body, { contentType: blob.contentType, sizeBytes: size }), either);
  } finally {
    // An upload that still reads fails, and aborts itself in the store.
    body.destroy();
  }
}

/** A track of HLS as commands name it. */
export type StoredTrack = NonNullable<ChangesInput<'podcast.record_intro'>['segment']['hls']>;

/** A track of pictures as commands name it. */
export type StoredPictures = Extract<ChangesInput<'production.record_track'>['file'], { width: number }>;

/** Stores a track of HLS and its index. */
export async function storeTrack(
  store: ObjectStore,
  track: Omit<EncodedTrack, 'frames'>,
  signal: AbortSignal,
): Promise<StoredTrack> {
  const { index } = track;
  const contentType = 'width' in track ? 'video/mp4' : 'audio/mp4';
  const media = { key: blobKey(track.sha256), path: track.path, contentType };
  await storeFile(store, media, signal);
  await storeFile(store, { key: blobKey(index.sha256), path: index.path, contentType: 'application/json' }, signal);
  return {
    codec: track.codec,
    storage_key: media.key,
    sha256: track.sha256,
    size_bytes: track.sizeBytes,
    duration_ms: track.durationMs,
    index: { storage_key: blobKey(index.sha256), sha256: index.sha256, size_bytes: index.sizeBytes },
  };
}

/** Stores a track of pictures and its index. */
export async function storePictures(
  store: ObjectStore,
  track: EncodedPictures,
  signal: AbortSignal,
): Promise<StoredPictures> {
  const { width, height, frameRate } = track;
  return { ...(await storeTrack(store, track, signal)), width, height, frame_rate: frameRate };
}
