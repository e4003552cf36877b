import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ObjectStore } from '@longwave/object-store';
import { untilAborted } from './until-aborted.ts';

/** Key of an immutable media blob. */
export const blobKey = (sha256: string): string => `media/${sha256}`;

/** Far more than a day of sound needs; a store that takes longer is in trouble. */
const storeMsMax = 30 * 60_000;

/**
 * Stores a local file under its digest; gives up at once when `signal` aborts.
 * A blob is never removed by who stored it: equal bytes of another job have the same key, and no look into the store can tell
 * that nobody is about to report it. What no resource names is left to a sweep by age; every put makes the object young again.
 */
export async function storeFile(
  store: ObjectStore,
  blob: { readonly key: string; readonly path: string; readonly contentType: string },
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(blob.path);
  const body = createReadStream(blob.path);
  const either = AbortSignal.any([signal, AbortSignal.timeout(storeMsMax)]);
  try {
    await untilAborted(store.put(blob.key, body, { contentType: blob.contentType, sizeBytes: size }), either);
  } finally {
    // An upload that still reads fails, and aborts itself in the store.
    body.destroy();
  }
}
