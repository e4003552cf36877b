import { createHash } from 'node:crypto';
import { cellIndexSchema, type CellIndex } from '@longwave/hls-media';
import type { ObjectStore } from '@longwave/object-store';
import { LRUCache } from 'lru-cache';
import { drainBody } from '../segments/drain-body.ts';
import { objectKey } from '../segments/open-segment.ts';

/** Loads the index of a track by its SHA-256. Rejects when the store does not give it, or gives other bytes. */
export type LoadIndex = (digest: string) => Promise<CellIndex>;

/** Indexes of an hour take about 100 kB. */
const maxIndexes = 200;
/** The index of a day of sound has 1.2 MB. */
const maxIndexBytes = 4 << 20;

/** Indexes never change; the last ones stay in memory, and concurrent calls share one read. */
export function createLoadIndex(store: Pick<ObjectStore, 'get'>): LoadIndex {
  const loaded = new LRUCache<string, Promise<CellIndex>>({ max: maxIndexes });

  async function read(digest: string): Promise<CellIndex> {
    const hash = createHash('sha256');
    const chunks: Buffer[] = [];
    let bytes = 0;
    await drainBody(await store.get(objectKey(digest)), (chunk) => {
      bytes += chunk.length;
      if (bytes > maxIndexBytes) throw new Error(`the index ${digest} has more than ${maxIndexBytes} bytes`);
      hash.update(chunk);
      chunks.push(chunk);
    });
    if (hash.digest('hex') !== digest) throw new Error(`the index ${digest} is not what its name says`);
    return cellIndexSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  }

  return (digest) => {
    const known = loaded.get(digest);
    if (known) return known;
    const reading = read(digest);
    loaded.set(digest, reading);
    reading.catch(() => loaded.delete(digest));
    return reading;
  };
}
