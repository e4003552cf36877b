import { createHash } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { drainBody } from './drain-body.ts';
import { chunkBytes, objectKey, readChunk, readWindow, type OpenSegment, type SegmentStore } from './open-segment.ts';

export class CorruptSegment extends Error {
  constructor(digest: string) {
    super(`the object ${objectKey(digest)} is not what its name says`);
    this.name = 'CorruptSegment';
  }
}

/** The disk failed; the object may be right. */
class DiskFailed extends Error {
  constructor(cause: unknown) {
    super('the segment cache cannot write to its disk', { cause });
    this.name = 'DiskFailed';
  }
}

const onDisk = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => Promise.reject(new DiskFailed(error)));

/** The end of a segment is held back until its digest is right, so that no listener completes a file of wrong bytes. */
const heldBackBytes = 64 << 10;
/** A listener further ahead of the writer than this does not wait for it. */
const aheadBytes = 4 << 20;

export interface SegmentDownloadOptions {
  readonly store: SegmentStore;
  readonly digest: string;
  readonly sizeBytes: number;
  /** File of the arriving bytes; removed when their digest is wrong. */
  readonly partFile: string;
  /** File of the complete segment. */
  readonly file: string;
}

/** A segment that is fetched from the store into a file, which is closed when this and every opened segment is disposed. */
export interface SegmentDownload extends AsyncDisposable {
  /** Rejects with `CorruptSegment` or the error of the store or the disk; unless the disk failed, listeners are cut off then. */
  readonly done: Promise<void>;
  /** Reads behind the writer, while it writes and after. Rejects when there is no file. */
  open(): Promise<OpenSegment>;
}

/**
 * Starts to fetch a segment, in one read of the store however many listen. Listeners follow in the file at their own pace: none
 * holds more than a chunk, none slows the writer. They get the bytes of which the digest is made, with these exceptions: a range that
 * ends earlier is answered before the digest is known; a seek far ahead of the writer is read straight from the store until the
 * writer has caught up; and so is everything when the disk fails.
 */
export function startDownload(options: SegmentDownloadOptions): SegmentDownload {
  const { store, digest, sizeBytes, partFile, file } = options;
  const opening = onDisk(open(partFile, 'w+'));
  let users = 1;
  let receivedBytes = 0;
  let readableBytes = 0;
  let verified = false;
  let failure: unknown;
  let moved = Promise.withResolvers<void>();

  function wake(): void {
    moved.resolve();
    moved = Promise.withResolvers();
  }

  async function leave(): Promise<void> {
    if (--users === 0)
      await opening.then(
        (handle) => handle.close(),
        () => undefined,
      );
  }

  async function receive(): Promise<void> {
    const handle = await opening;
    const hash = createHash('sha256');
    await drainBody(await store.get(objectKey(digest)), async (chunk) => {
      if (receivedBytes + chunk.length > sizeBytes) throw new CorruptSegment(digest);
      hash.update(chunk);
      await onDisk(handle.writeFile(chunk));
      receivedBytes += chunk.length;
      readableBytes = Math.max(0, Math.min(receivedBytes, sizeBytes - heldBackBytes));
      wake();
    });
    if (receivedBytes !== sizeBytes || hash.digest('hex') !== digest) throw new CorruptSegment(digest);
    verified = true;
    readableBytes = sizeBytes;
    wake();
    await onDisk(handle.sync());
    await onDisk(rename(partFile, file));
  }

  async function download(): Promise<void> {
    try {
      await receive();
    } catch (error) {
      if (!verified) failure = error;
      wake();
      await rm(partFile, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async function* read(handle: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(chunkBytes);
    for (let at = from; at < to;) {
      if (failure !== undefined && !(failure instanceof DiskFailed)) throw failure as Error;
      let chunk: Buffer;
      if (failure !== undefined || at - readableBytes > aheadBytes) chunk = await readWindow(store, digest, at, to);
      else if (at < readableBytes) chunk = await readChunk(handle, buffer, at, Math.min(to, readableBytes));
      else {
        await moved.promise;
        continue;
      }
      yield chunk;
      at += chunk.length;
    }
  }

  return {
    done: download(),
    open: async () => {
      users++;
      const handle = await opening;
      return { read: (from, to) => read(handle, from, to), [Symbol.asyncDispose]: leave };
    },
    [Symbol.asyncDispose]: leave,
  };
}
