import { hash } from 'node:crypto';
import { cellIndexSchema, type CellIndex } from '@longwave/hls-media';
import type { ObjectStore } from '@longwave/object-store';
import { LRUCache } from 'lru-cache';
import { readWhole } from '../segments/drain-body.ts';
import { objectKey } from '../segments/open-segment.ts';

/** Loads the index of a track by its SHA-256. Rejects when the store does not give it, or gives other bytes. */
export type LoadIndex = (digest: string) => Promise<CellIndex>;

/** Each takes about 100 bytes; an hour has 1,300. */
const maxCells = 200_000;
/** The index of a day of sound has 1.2 MB. */
const maxIndexBytes = 4 << 20;

/** Indexes never change; the last ones stay in memory, and concurrent calls share one read. */
export function createLoadIndex(store: Pick<ObjectStore, 'get'>): LoadIndex {
  const loaded = new LRUCache<string, CellIndex>({ maxSize: maxCells, sizeCalculation: ({ cells }) => cells.length });
  const loading = new Map<string, Promise<CellIndex>>();

  async function read(digest: string): Promise<CellIndex> {
    const bytes = await readWhole(await store.get(objectKey(digest)), maxIndexBytes, `the index ${digest}`);
    if (hash('sha256', bytes) !== digest) throw new Error(`the index ${digest} is not what its name says`);
    return cellIndexSchema.parse(JSON.parse(bytes.toString('utf8')));
  }

  return async (digest) => {
    const known = loaded.get(digest) ?? loading.get(digest);
    if (known) return known;
    const reading = read(digest).finally(() => loading.delete(digest));
    loading.set(digest, reading);
    const index = await reading;
    loaded.set(digest, index);
    return index;
  };
}
