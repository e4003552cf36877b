import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ObjectStore } from '@longwave/object-store';
import { MediaFault } from '../media/media-fault.ts';
import { isRoomFor } from './free-disk.ts';
import { untilAborted } from './until-aborted.ts';

/** A store that sends nothing for so long will not send the rest either. */
const maxSilenceMs = 60_000;

const inEnglish = new Intl.NumberFormat('en');

export interface FetchOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress: (fraction: number) => void;
}

/** The file on the disk. */
export interface FetchedFile {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export const tooManyBytes = (maxBytes: number): MediaFault =>
  new MediaFault(
    'encoder_failed',
    `The file has more than ${inEnglish.format(maxBytes)} bytes. Upload a smaller one, for example as FLAC or MP3.`,
  );

/** Throws a plain error when the disk cannot hold a file of `sizeBytes` and what is made beside it: then another try takes the job. */
export async function checkFreeDisk(target: string, sizeBytes: number): Promise<void> {
  if (!(await isRoomFor(sizeBytes, path.dirname(target)))) throw new Error('not enough free disk for this file');
}

/**
 * Downloads a stored source into `target`, its size checked against the store, the announcement and the free disk, its bytes
 * against the announced checksum.
 * Throws `MediaFault` for a wrong file, a plain error when the store or the disk cannot do it now, the signal's reason when aborted.
 */
export async function fetchSource(
  store: ObjectStore,
  source: {
    readonly storageKey: string;
    readonly etag: string;
    readonly declaredBytes?: number | null | undefined;
    /** Lower-case hex. */
    readonly declaredSha256?: string | undefined;
  },
  target: string,
  { maxBytes, signal, onProgress }: FetchOptions,
): Promise<FetchedFile> {
  const stored = await untilAborted(store.find(source.storageKey), signal);
  if (!stored) throw new MediaFault('encoder_failed', 'The uploaded file is no longer stored. Upload it again.');
  if (stored.sizeBytes === 0) throw new MediaFault('media_empty', 'The file is empty. Upload it again.');
  if (typeof source.declaredBytes === 'number' && source.declaredBytes !== stored.sizeBytes)
    throw new MediaFault(
      'media_size_mismatch',
      `The file was announced with ${inEnglish.format(source.declaredBytes)} bytes, but ${inEnglish.format(stored.sizeBytes)} were uploaded. Upload the whole file again.`,
    );
  if (stored.etag !== source.etag)
    throw new MediaFault(
      'media_size_mismatch',
      'The file was replaced after encoding was started. Start again with the new file.',
    );
  if (stored.sizeBytes > maxBytes) throw tooManyBytes(maxBytes);
  await checkFreeDisk(target, stored.sizeBytes);

  const silent = new AbortController();
  const silence = setTimeout(() => silent.abort(new Error('the object store sends nothing more')), maxSilenceMs);
  const flowing = AbortSignal.any([signal, silent.signal]);
  const hash = createHash('sha256');
  let received = 0;
  try {
    const body = await untilAborted(store.get(source.storageKey), flowing, (body: Readable) => body.destroy());
    await pipeline(
      body,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          silence.refresh();
          received += chunk.length;
          if (received > stored.sizeBytes) break;
          hash.update(chunk);
          onProgress(received / stored.sizeBytes);
          yield chunk;
        }
      },
      createWriteStream(target),
      { signal: flowing },
    );
  } finally {
    clearTimeout(silence);
  }
  if (received !== stored.sizeBytes) throw new Error('the object store did not deliver the whole source');
  const sha256 = hash.digest('hex');
  if (source.declaredSha256 !== undefined && source.declaredSha256 !== sha256)
    throw new MediaFault(
      'media_checksum_mismatch',
      `The file was announced with the SHA-256 ${source.declaredSha256}, but other bytes were uploaded. Upload the file again.`,
    );
  return { sizeBytes: received, sha256 };
}
