import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '@longwave/service-kit';
import { blockBytes, createBlockCache, type BlockCache } from './block-cache.ts';
import { createOpenFiles, type SharedFile } from './open-files.ts';
import { segmentOfFile, segmentOfStore, type OpenSegment, type SegmentStore } from './open-segment.ts';
import { CorruptSegment, startDownload, type SegmentDownload } from './segment-download.ts';

export interface SegmentCache extends AsyncDisposable {
  /** Opens a segment. A small one is fetched first; an error of the store appears when it is read. Rejects with `CorruptSegment`. */
  open(digest: string, sizeBytes: number): Promise<OpenSegment>;
  /** Bytes [from, to) of a segment that was read lately, one after the other; undefined when some of them are not in memory. */
  find(digest: string, from: number, to: number): readonly Buffer[] | undefined;
  /** Makes sure that the segment is on the disk. */
  fetch(digest: string, sizeBytes: number): Promise<void>;
  /** Bytes on the disk. */
  readonly sizeBytes: number;
}

export interface SegmentCacheOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly store: SegmentStore;
  readonly logger: Logger;
  /** Caches may share one. Default: one of 64 MiB. */
  readonly blocks?: BlockCache;
  /** A segment of at least this size is read while it is being fetched; a smaller one only when it is whole. Default 32 MiB. */
  readonly waitBelowBytes?: number;
}

const namePattern = /^[0-9a-f]{64}$/;
/** Files that stay open between two requests. */
const maxOpenFiles = 256;
/** How long an ending process waits for segments that are on their way. */
const disposeWaitMs = 5_000;

interface Fetching {
  readonly download: SegmentDownload;
  /** Resolves when the file is stored and counted. */
  readonly kept: Promise<void>;
}

/** The stored files, least recently used first. */
async function readIndex(folder: string): Promise<Map<string, number>> {
  const names = await readdir(folder);
  const found: { name: string; size: number; usedMs: number }[] = [];
  for (const name of names) {
    const file = path.join(folder, name);
    if (!namePattern.test(name)) await rm(file, { force: true, recursive: true });
    else {
      const { size, atimeMs, mtimeMs } = await stat(file);
      found.push({ name, size, usedMs: Math.max(atimeMs, mtimeMs) });
    }
  }
  return new Map(found.sort((a, b) => a.usedMs - b.usedMs).map(({ name, size }) => [name, size]));
}

/**
 * Segments on the local disk, by digest, least recently used ones removed beyond `maxBytes`. A file appears under its name only
 * when it is whole and its SHA-256 is right. Removing one never disturbs its readers: an open file outlives its name.
 */
export async function createSegmentCache(options: SegmentCacheOptions): Promise<SegmentCache> {
  const { folder, maxBytes, store, logger, waitBelowBytes = 32 << 20, blocks = createBlockCache(64 << 20) } = options;
  await mkdir(folder, { recursive: true });
  const index = await readIndex(folder);
  const openFiles = createOpenFiles(maxOpenFiles);
  const fetching = new Map<string, Fetching>();
  let total = [...index.values()].reduce((sum, size) => sum + size, 0);
  let sequence = 0;

  const fileOf = (digest: string) => path.join(folder, digest);

  function forget(digest: string): void {
    total -= index.get(digest) ?? 0;
    index.delete(digest);
    openFiles.forget(fileOf(digest));
  }

  async function makeRoom(): Promise<void> {
    while (total > maxBytes && index.size > 1) {
      const [oldest] = index.keys();
      forget(oldest!);
      await rm(fileOf(oldest!), { force: true });
    }
  }

  async function keep(digest: string, sizeBytes: number): Promise<void> {
    forget(digest);
    index.set(digest, sizeBytes);
    total += sizeBytes;
    await makeRoom();
  }

  /** Callers of one segment share its download. */
  function startFetching(digest: string, sizeBytes: number): Fetching {
    const running = fetching.get(digest);
    if (running) return running;
    const file = fileOf(digest);
    const partFile = `${file}.${process.pid}.${sequence++}.part`;
    const download = startDownload({ store, digest, sizeBytes, partFile, file });
    const kept = download.done
      .then(() => keep(digest, sizeBytes))
      .finally(() => {
        fetching.delete(digest);
        return download[Symbol.asyncDispose]();
      });
    kept.catch((error: unknown) => logger.warn({ err: error, digest }, 'segment.fetch_failed'));
    fetching.set(digest, { download, kept });
    return { download, kept };
  }

  async function openFile(digest: string, sizeBytes: number): Promise<SharedFile | undefined> {
    const size = index.get(digest);
    if (size === undefined) return undefined;
    const file = await openFiles.open(fileOf(digest), sizeBytes);
    if (!file) {
      await rm(fileOf(digest), { force: true });
      forget(digest);
    } else if (index.delete(digest)) index.set(digest, size);
    return file;
  }

  function findInMemory(digest: string, from: number, to: number): Buffer[] | undefined {
    const found: Buffer[] = [];
    for (let at = from; at < to;) {
      const start = at - (at % blockBytes);
      const block = blocks.find(digest, start / blockBytes);
      // The last block of a segment is shorter, and nothing is behind it.
      if (!block || at - start >= block.length) return undefined;
      found.push(block.subarray(at - start, to - start));
      at = start + block.length;
    }
    const size = index.get(digest);
    if (size !== undefined && index.delete(digest)) index.set(digest, size);
    return found;
  }

  async function openSegment(digest: string, sizeBytes: number): Promise<OpenSegment> {
    const blob = { digest, sizeBytes };
    try {
      const cached = await openFile(digest, sizeBytes);
      if (cached) return segmentOfFile(cached, blob, blocks);
      const { download, kept } = startFetching(digest, sizeBytes);
      if (sizeBytes >= waitBelowBytes) return await download.open();
      await kept;
      const file = await openFile(digest, sizeBytes);
      return file ? segmentOfFile(file, blob, blocks) : segmentOfStore(store, digest);
    } catch (error) {
      // A disk that is full or broken must not break playback; an object that is not what its name says must not be served.
      if (error instanceof CorruptSegment) throw error;
      logger.warn({ err: error, digest }, 'segment.cache_failed');
      return segmentOfStore(store, digest);
    }
  }

  return {
    open: openSegment,
    find: findInMemory,
    fetch: async (digest, sizeBytes) => {
      if (!index.has(digest)) await startFetching(digest, sizeBytes).kept;
    },
    get sizeBytes() {
      return total;
    },
    [Symbol.asyncDispose]: async () => {
      // Running fetches still write into the folder. Slow ones are left behind: the next start removes their parts.
      const writing = Promise.allSettled([...fetching.values()].map(({ kept }) => kept));
      await Promise.race([writing, wait(disposeWaitMs, undefined, { ref: false })]);
      await openFiles[Symbol.asyncDispose]();
    },
  };
}
