import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import type { OpenSegment } from '../segments/open-segment.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { ArrangementPart } from './arrangement.ts';
import { getHeader } from './arrangement-table.ts';

export type OpenPart = (part: ArrangementPart) => Promise<OpenSegment>;

const maxHeaderBytes = 8 << 20;

const fromMemory = (bytes: Buffer): OpenSegment => ({
  read: async function* (from, to) {
    yield bytes.subarray(from, to);
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

/** Opens the blob of a part where it lies. Generated headers, which never change, stay in memory. */
export function createOpenPart(
  pool: Pool,
  segments: Pick<SegmentCache, 'open'>,
  artworks: Pick<SegmentCache, 'open'>,
): OpenPart {
  const headers = new LRUCache<string, Buffer>({
    maxSize: maxHeaderBytes,
    sizeCalculation: ({ length }) => length || 1,
  });

  async function headerOf(digest: string): Promise<Buffer> {
    const known = headers.get(digest);
    if (known) return known;
    const bytes = await getHeader(pool, digest);
    headers.set(digest, bytes);
    return bytes;
  }

  return async ({ kind, store, blob, blob_bytes: sizeBytes }) => {
    if (store === 'artwork') return artworks.open(blob, sizeBytes);
    if (kind === 'header' || store === 'header') return fromMemory(await headerOf(blob));
    return segments.open(blob, sizeBytes);
  };
}
