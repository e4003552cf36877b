import path from 'node:path';
import type { ObjectStore } from '@longwave/object-store';
import type { Logger } from '@longwave/service-kit';
import type { DeliveryConfig } from '../config.ts';
import { createBlockCache } from './block-cache.ts';
import { storeOf } from './open-segment.ts';
import { createSegmentCache, type SegmentCache } from './segment-cache.ts';

/** Blobs on the local disk, which may be lost at any time. */
export interface Caches extends AsyncDisposable {
  readonly segments: SegmentCache;
  readonly artworks: SegmentCache;
}

/** Pictures are small and few. */
const maxArtworkBytes = 1 << 30;

export async function openCaches(config: DeliveryConfig, store: ObjectStore, logger: Logger): Promise<Caches> {
  const folderOf = (name: string) => path.join(config.CACHE_FOLDER, name);
  const maxBytes = config.CACHE_MAX_BYTES;
  const blocks = createBlockCache(config.MEMORY_CACHE_MAX_BYTES);
  const segments = await createSegmentCache({ folder: folderOf('segments'), maxBytes, store, logger, blocks });
  const artworks = await createSegmentCache({
    folder: folderOf('artwork'),
    maxBytes: Math.min(maxBytes, maxArtworkBytes),
    store: storeOf(store, 'artwork'),
    logger,
    blocks,
  });
  return {
    segments,
    artworks,
    [Symbol.asyncDispose]: async () => {
      await segments[Symbol.asyncDispose]();
      await artworks[Symbol.asyncDispose]();
    },
  };
}
