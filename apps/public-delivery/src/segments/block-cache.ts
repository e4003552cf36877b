import type { FileHandle } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';

/** Bytes of a block; blocks begin at its multiples. */
export const blockBytes = 128 << 10;

/** Reads files by blocks that stay in memory; beyond the limit the least recently used are dropped. */
export interface BlockCache {
  /**
   * Block `index` of a file whose bytes never change under `name`. The same buffer is given to everybody: it is never written to.
   * Rejects with the file system's error, or when the file ends before the block does.
   */
  read(name: string, handle: FileHandle, sizeBytes: number, index: number): Buffer | Promise<Buffer>;
  /** Block `index` of a file, if it is in memory. */
  find(name: string, index: number): Buffer | undefined;
  /** Bytes held. */
  readonly sizeBytes: number;
}

async function readBlock(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafeSlow(length);
  for (let filled = 0; filled < length;) {
    const { bytesRead } = await handle.read(block, filled, length - filled, from + filled);
    if (bytesRead === 0) throw new Error(`a segment's file ends at ${from + filled}`);
    filled += bytesRead;
  }
  return block;
}

/**
 * Many listeners of the same minute cost one read and one buffer. A hit is answered without a promise.
 * @param maxBytes a larger block than this is not kept; 0 keeps none
 */
export function createBlockCache(maxBytes: number): BlockCache {
  // The library has no cache of 0 bytes; no block fits into one of a single byte.
  const blocks = new LRUCache<string, Buffer>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ length }) => length,
  });
  const reading = new Map<string, Promise<Buffer>>();
  return {
    find: (name, index) => blocks.get(`${name}:${index}`),
    read: (name, handle, sizeBytes, index) => {
      const key = `${name}:${index}`;
      const known = blocks.get(key) ?? reading.get(key);
      if (known) return known;
      const from = index * blockBytes;
      const started = readBlock(handle, from, Math.min(blockBytes, sizeBytes - from))
        .then((block) => {
          blocks.set(key, block);
          return block;
        })
        .finally(() => reading.delete(key));
      reading.set(key, started);
      return started;
    },
    get sizeBytes() {
      return blocks.calculatedSize;
    },
  };
}
