import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGunzip, createGzip } from 'node:zlib';
import type { ContentCoding } from '../http/choose-coding.ts';

/** A document and how long it is in each coding. */
export interface StoredDocument {
  /** SHA-256 (hex) of the document as it is. */
  readonly digest: string;
  readonly sizes: Readonly<Record<ContentCoding, number>>;
}

/** Documents on the local disk, compressed, by digest; least recently used ones are removed beyond `maxBytes`. */
export interface DocumentCache {
  /** Stores the document of the pieces, one piece in memory at a time. Rejects with the error of the pieces. */
  save(pieces: AsyncIterable<string>): Promise<StoredDocument>;
  /** Undefined when the document was removed. The stream closes the file. */
  open(document: StoredDocument, coding: ContentCoding): Promise<Readable | undefined>;
}

const files = ['gzip', 'br'] as const;
const brotliQuality = 4;
/** Pieces are taken one by one, so that none waits in memory. */
const pieceBytes = 64 << 10;

/** @param folder belongs to this process; emptied at the start */
export async function createDocumentCache(folder: string, maxBytes: number): Promise<DocumentCache> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sizes = new Map<string, number>();
  let total = 0;
  let sequence = 0;

  const fileOf = (digest: string, coding: (typeof files)[number]) => path.join(folder, `${digest}.${coding}`);

  async function keep(digest: string, sizeBytes: number): Promise<void> {
    total += sizeBytes - (sizes.get(digest) ?? 0);
    sizes.delete(digest);
    sizes.set(digest, sizeBytes);
    while (total > maxBytes && sizes.size > 1) {
      const [oldest] = sizes.keys();
      total -= sizes.get(oldest!)!;
      sizes.delete(oldest!);
      for (const coding of files) await rm(fileOf(oldest!, coding), { force: true });
    }
  }

  async function save(pieces: AsyncIterable<string>): Promise<StoredDocument> {
    const part = path.join(folder, `${sequence++}.part`);
    const hash = createHash('sha256');
    let identity = 0;
    const bytes = async function* () {
      for await (const piece of pieces) {
        const chunk = Buffer.from(piece, 'utf8');
        hash.update(chunk);
        identity += chunk.length;
        yield chunk;
      }
    };
    try {
      await pipeline(
        Readable.from(bytes(), { objectMode: false, highWaterMark: pieceBytes }),
        createGzip(),
        createWriteStream(`${part}.gzip`),
      );
      const digest = hash.digest('hex');
      const gzipped = await open(`${part}.gzip`);
      await pipeline(
        gzipped.createReadStream(),
        createGunzip(),
        createBrotliCompress({
          params: {
            [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
            [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          },
        }),
        createWriteStream(`${part}.br`),
      );
      const gzip = (await stat(`${part}.gzip`)).size;
      const br = (await stat(`${part}.br`)).size;
      for (const coding of files) await rename(`${part}.${coding}`, fileOf(digest, coding));
      await keep(digest, gzip + br);
      return { digest, sizes: { identity, gzip, br } };
    } finally {
      for (const coding of files) await rm(`${part}.${coding}`, { force: true });
    }
  }

  async function openFile(digest: string, coding: (typeof files)[number]): Promise<FileHandle | undefined> {
    const size = sizes.get(digest);
    if (size === undefined) return undefined;
    sizes.delete(digest);
    sizes.set(digest, size);
    return open(fileOf(digest, coding)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
  }

  return {
    save,
    open: async ({ digest }, coding) => {
      const file = await openFile(digest, coding === 'br' ? 'br' : 'gzip');
      if (!file) return undefined;
      const stored = file.createReadStream();
      if (coding !== 'identity') return stored;
      const plain = createGunzip();
      // Each side ends with the other; what went wrong shows on the plain one.
      pipeline(stored, plain).catch(() => undefined);
      return plain;
    },
  };
}
