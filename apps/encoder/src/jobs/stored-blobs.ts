import type { ObjectStore } from '@longwave/object-store';

/** One immutable blob this job put into the store. */
export interface StoredBlob {
  readonly key: string;
  /** False when the same bytes were there before, for another production. */
  readonly created: boolean;
  readonly modifiedAt: Date;
}

export const blobKey = (sha256: string): string => `media/${sha256}`;

/** Puts a content-addressed blob (always: equal bytes, and a fresh time shows others that it is in use). */
export async function storeBlob(store: ObjectStore, key: string, put: () => Promise<unknown>): Promise<StoredBlob> {
  const before = await store.find(key);
  await put();
  const after = await store.find(key);
  if (!after) throw new Error(`the object store lost ${key}`);
  return { key, created: before === undefined, modifiedAt: after.modifiedAt };
}

/** Takes back what a job put, except blobs that were there before it or that someone has put again since. */
export async function removeBlobs(store: ObjectStore, blobs: readonly StoredBlob[]): Promise<void> {
  for (const blob of blobs) {
    if (!blob.created) continue;
    const now = await store.find(blob.key);
    if (now?.modifiedAt.getTime() === blob.modifiedAt.getTime()) await store.remove(blob.key);
  }
}
