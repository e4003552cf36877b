import type { FileHandle } from 'node:fs/promises';
import type { ObjectStore } from '@longwave/object-store';
import { drainBody } from './drain-body.ts';
import { blockBytes, type BlockCache } from './block-cache.ts';
import type { SharedFile } from './open-files.ts';

/** A segment that is open: its bytes stay readable whatever happens to the cache. */
export interface OpenSegment extends AsyncDisposable {
  /** Bytes [from, to) in chunks of at most 1 MiB, each good until the next one is asked for. */
  read(from: number, to: number): AsyncIterable<Buffer>;
}

export type SegmentStore = Pick<ObjectStore, 'get'>;

/** Buffer of a listener whose segment is still being fetched. */
export const chunkBytes = 128 << 10;
/** Buffer of a listener who reads from the store, filled in one go, so that a slow listener keeps no connection of the store waiting. */
const windowBytes = 1 << 20;

export const objectKey = (digest: string) => `media/${digest}`;

/** The same store for blobs that lie in another folder than the segments. */
export const storeOf = (store: SegmentStore, folder: string): SegmentStore => ({
  get: (key, range) => store.get(key.replace(/^media\//, `${folder}/`), range),
});

/** Bytes of the file from `from` on, as many as there are before `to` and in one chunk. */
export async function readChunk(file: FileHandle, chunk: Buffer, from: number, to: number): Promise<Buffer> {
  const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, to - from), from);
  if (bytesRead === 0) throw new Error(`a segment's file ends at ${from}`);
  return chunk.subarray(0, bytesRead);
}

/** The same from the store, at most a window. */
export async function readWindow(store: SegmentStore, digest: string, from: number, to: number): Promise<Buffer> {
  const window = Buffer.allocUnsafeSlow(Math.min(windowBytes, to - from));
  let filled = 0;
  await drainBody(await store.get(objectKey(digest), { from, to: from + window.length }), (chunk) => {
    filled += chunk.copy(window, filled);
  });
  if (filled !== window.length) throw new Error(`the object media/${digest} ends at ${from + filled}`);
  return window;
}

/** A segment that is on the disk, read by shared blocks. */
export const segmentOfFile = (
  { handle, leave }: SharedFile,
  file: { readonly digest: string; readonly sizeBytes: number },
  blocks: BlockCache,
): OpenSegment => ({
  read: async function* (from, to) {
    for (let at = from; at < to;) {
      const index = Math.floor(at / blockBytes);
      const start = index * blockBytes;
      const block = blocks.read(file.digest, handle, file.sizeBytes, index);
      const chunk = (block instanceof Buffer ? block : await block).subarray(at - start, to - start);
      if (chunk.length === 0) throw new Error(`a segment's file ends at ${at}`);
      yield chunk;
      at += chunk.length;
    }
  },
  [Symbol.asyncDispose]: leave,
});

/** A segment read straight from the store; its digest is not checked. */
export const segmentOfStore = (store: SegmentStore, digest: string): OpenSegment => ({
  read: async function* (from, to) {
    for (let at = from; at < to;) {
      const window = await readWindow(store, digest, at, to);
      yield window;
      at += window.length;
    }
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
