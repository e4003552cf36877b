import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ObjectStore } from '@longwave/object-store';
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
