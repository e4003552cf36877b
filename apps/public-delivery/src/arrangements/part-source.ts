import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import type { OpenSegment } from '../segments/open-segment.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { ArrangementPart } from './arrangement.ts';
import { getHeader } from './arrangement-table.ts';

/** Blobs of parts, wherever they lie. */
export interface PartSource {
  open(part: ArrangementPart): Promise<OpenSegment>;
  /** Bytes [from, to) of the blob of a part, one buffer after the other, when all are in memory. They never change. */
  find(part: ArrangementPart, from: number, to: number): readonly Buffer[] | undefined;
}

const maxHeaderBytes = 8 << 20;

/** Bytes that are in memory already. */
export const fromMemory = (bytes: Buffer): OpenSegment => ({
  read: async function* (from, to) {
    yield bytes.subarray(from, to);
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

/** Generated headers, which never change, stay in memory. */
export function createPartSource(
  pool: Pool,
  segments: Pick<SegmentCache, 'open' | 'find'>,
  artworks: Pick<SegmentCache, 'open' | 'find'>,
): PartSource {
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

  const isHeader = ({ kind, store }: ArrangementPart) => store === 'header' || (kind === 'header' && !store);
  const cacheOf = ({ store }: ArrangementPart) => (store === 'artwork' ? artworks : segments);
  return {
    open: async (part) =>
      isHeader(part) ? fromMemory(await headerOf(part.blob)) : cacheOf(part).open(part.blob, part.blob_bytes),
    find: (part, from, to) => {
      if (!isHeader(part)) return cacheOf(part).find(part.blob, from, to);
      const bytes = headers.get(part.blob);
      return bytes && [bytes.subarray(from, to)];
    },
  };
}
