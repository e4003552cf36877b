import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ObjectStore } from '@longwave/object-store';
import type { Logger } from '@longwave/service-kit';

/** A segment that is open: its bytes stay readable whatever happens to the cache. */
export interface OpenSegment extends AsyncDisposable {
  /** Bytes [from, to) in chunks of at most 256 KiB. */
  read(from: number, to: number): AsyncIterable<Buffer>;
}

export interface SegmentCache {
  /** Opens a segment. A small one is fetched first; a source that has nothing shows when it is read. Rejects with `CorruptSegment`. */
  open(digest: string, sizeBytes: number): Promise<OpenSegment>;
  /** Makes sure that the segment is on the disk. */
  fetch(digest: string, sizeBytes: number): Promise<void>;
  /** Bytes on the disk. */
  readonly sizeBytes: number;
}

export interface SegmentCacheOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly store: Pick<ObjectStore, 'get'>;
  readonly logger: Logger;
  /** A larger segment that is not here yet is read from the store while it is being fetched. Default 32 MiB. */
  readonly waitBelowBytes?: number;
}

export class CorruptSegment extends Error {
  constructor(digest: string) {
    super(`the object media/${digest} is not what its name says`);
    this.name = 'CorruptSegment';
  }
}

const chunkBytes = 256 * 1024;
const namePattern = /^[0-9a-f]{64}$/;
const objectKey = (digest: string) => `media/${digest}`;

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
 * when it is whole and its SHA-256 is right. Removing one never disturbs who reads it: an open file outlives its name.
 */
export async function createSegmentCache(options: SegmentCacheOptions): Promise<SegmentCache> {
  const { folder, maxBytes, store, logger, waitBelowBytes = 32 << 20 } = options;
  await mkdir(folder, { recursive: true });
  const index = await readIndex(folder);
  const fetching = new Map<string, Promise<void>>();
  let total = [...index.values()].reduce((sum, size) => sum + size, 0);
  let sequence = 0;

  const fileOf = (digest: string) => path.join(folder, digest);

  function forget(digest: string): void {
    total -= index.get(digest) ?? 0;
    index.delete(digest);
  }

  async function makeRoom(): Promise<void> {
    while (total > maxBytes && index.size > 1) {
      const [oldest] = index.keys();
      forget(oldest!);
      await rm(fileOf(oldest!), { force: true });
    }
  }

  async function download(digest: string, sizeBytes: number): Promise<void> {
    const temporary = path.join(folder, `${digest}.${process.pid}.${sequence++}.part`);
    const hash = createHash('sha256');
    let received = 0;
    const check = new Transform({
      transform: (chunk: Buffer, _encoding, next) => {
        received += chunk.length;
        hash.update(chunk);
        next(null, chunk);
      },
    });
    try {
      await pipeline(await store.get(objectKey(digest)), check, createWriteStream(temporary, { flush: true }));
      if (received !== sizeBytes || hash.digest('hex') !== digest) throw new CorruptSegment(digest);
      await rename(temporary, fileOf(digest));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    forget(digest);
    index.set(digest, sizeBytes);
    total += sizeBytes;
    await makeRoom();
  }

  async function openFile(digest: string, sizeBytes: number): Promise<FileHandle | undefined> {
    if (!index.has(digest)) return undefined;
    try {
      const file = await open(fileOf(digest), 'r');
      if ((await file.stat()).size === sizeBytes) {
        const size = index.get(digest);
        if (size !== undefined) {
          index.delete(digest);
          index.set(digest, size);
        }
        return file;
      }
      await file.close();
      await rm(fileOf(digest), { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    forget(digest);
    return undefined;
  }

  const fromFile = (file: FileHandle): OpenSegment => ({
    // The handle is ours to close: one segment may be read several times.
    read: (from, to) =>
      file.createReadStream({
        start: from,
        end: to - 1,
        highWaterMark: chunkBytes,
        autoClose: false,
      }) as AsyncIterable<Buffer>,
    [Symbol.asyncDispose]: () => file.close(),
  });

  const fromStore = (digest: string): OpenSegment => ({
    read: async function* (from, to) {
      yield* (await store.get(objectKey(digest), { from, to })) as AsyncIterable<Buffer>;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });

  /** One download at a time, whoever asks. */
  function fetch(digest: string, sizeBytes: number): Promise<void> {
    if (index.has(digest)) return Promise.resolve();
    let running = fetching.get(digest);
    if (!running) {
      running = download(digest, sizeBytes).finally(() => fetching.delete(digest));
      fetching.set(digest, running);
    }
    return running;
  }

  async function openSegment(digest: string, sizeBytes: number): Promise<OpenSegment> {
    try {
      const cached = await openFile(digest, sizeBytes);
      if (cached) return fromFile(cached);
      const fetched = fetch(digest, sizeBytes);
      if (sizeBytes >= waitBelowBytes) {
        fetched.catch((error: unknown) => logger.warn({ err: error, digest }, 'segment.fetch_failed'));
        return fromStore(digest);
      }
      await fetched;
      const file = await openFile(digest, sizeBytes);
      return file ? fromFile(file) : fromStore(digest);
    } catch (error) {
      // A disk that is full or broken must not break playback; an object that is not what its name says must not be served.
      if (error instanceof CorruptSegment) throw error;
      logger.warn({ err: error, digest }, 'segment.cache_failed');
      return fromStore(digest);
    }
  }

  return {
    open: openSegment,
    fetch,
    get sizeBytes() {
      return total;
    },
  };
}
