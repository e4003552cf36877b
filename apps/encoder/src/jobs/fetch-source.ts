import { createWriteStream } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ObjectStore } from '@longwave/object-store';
import { MediaFault } from '../media/media-fault.ts';

/** Room beside the source for the segments that are made from it. */
const spareBytes = 512 * 1024 * 1024;

/**
 * Downloads a source into `target`, its size checked against the store, the announcement and the free disk.
 * Throws `MediaFault` for a wrong file, a plain error when the store or the disk cannot do it now.
 */
export async function fetchSource(
  store: ObjectStore,
  source: { readonly storageKey: string; readonly etag: string; readonly declaredBytes?: number | null | undefined },
  target: string,
  options: { readonly maxBytes: number; readonly signal: AbortSignal; readonly onProgress: (fraction: number) => void },
): Promise<void> {
  const stored = await store.find(source.storageKey);
  if (!stored) throw new MediaFault('encoder_failed', 'The uploaded file is no longer stored. Upload it again.');
  if (stored.sizeBytes === 0) throw new MediaFault('media_empty', 'The file is empty. Upload it again.');
  if (typeof source.declaredBytes === 'number' && source.declaredBytes !== stored.sizeBytes)
    throw new MediaFault(
      'media_size_mismatch',
      `The file was announced with ${source.declaredBytes} bytes, but ${stored.sizeBytes} were uploaded. Upload the whole file again.`,
    );
  if (stored.etag !== source.etag)
    throw new MediaFault(
      'media_size_mismatch',
      'The file was replaced after encoding was started. Start again with the new file.',
    );
  if (stored.sizeBytes > options.maxBytes)
    throw new MediaFault(
      'encoder_failed',
      `The file has more than ${options.maxBytes} bytes. Upload a smaller one, for example as FLAC or MP3.`,
    );
  const disk = await statfs(path.dirname(target));
  if (disk.bavail * disk.bsize < stored.sizeBytes + spareBytes) throw new Error('not enough free disk for this source');

  let received = 0;
  await pipeline(
    await store.get(source.storageKey),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        received += chunk.length;
        if (received > stored.sizeBytes) break;
        options.onProgress(received / stored.sizeBytes);
        yield chunk;
      }
    },
    createWriteStream(target),
    { signal: options.signal },
  );
  if (received !== stored.sizeBytes) throw new Error('the object store did not deliver the whole source');
}
