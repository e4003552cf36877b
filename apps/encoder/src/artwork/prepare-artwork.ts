import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { ArtworkRendition, PrepareArtworkRequest, PrepareArtworkResponse } from '@longwave/rpc/probe';
import type { Gate } from '@longwave/service-kit';
import { MediaFault } from '../media/media-fault.ts';
import { answerInTime } from '../probe/answer-in-time.ts';
import { checkArtworkSize } from './check-artwork.ts';
import { readImageFile } from './image-file.ts';
import { renderArtwork } from './render-artwork.ts';

const maxBytes = 20 * 1024 * 1024;
const maxMs = 30_000;

const refused = (detail: string) => new MediaFault('artwork_not_acceptable', detail);
const tooLarge = () => refused('The image file is larger than 20 MB. Upload a smaller one.');

/**
 * Checks an image and stores its renditions under their digests. A wrong image, and one that cannot be fetched, is an answer with
 * the reason in words; a store that is down and work that takes too long are problems.
 */
export function createPrepareArtwork(options: {
  readonly store: ObjectStore;
  readonly guardedFetch: GuardedFetch;
  readonly gate: Gate;
  /** Folder of this process; each image is worked on in one of its own inside. */
  readonly workFolder: string;
}): (
  request: PrepareArtworkRequest,
  context: Pick<RpcContext, 'signal' | 'deadline'>,
) => Promise<PrepareArtworkResponse> {
  const { store, guardedFetch, gate, workFolder } = options;
  return async ({ storageKey, sourceUrl }, context) => {
    if ((storageKey !== '') === (sourceUrl !== undefined))
      throw new Problem('validation_failed', 'Name either a stored object or an address.');
    return await answerInTime({ gate, context, maxMs: maxMs, noun: 'image' }, async (signal) => {
      const bytes =
        sourceUrl === undefined
          ? await readObject(store, storageKey)
          : await readAddress(guardedFetch, sourceUrl, signal);
      const image = readImageFile(bytes);
      checkArtworkSize(image);
      const folder = path.join(workFolder, `artwork-${randomUUID()}`);
      await mkdir(folder, { recursive: true });
      try {
        const rendered = await renderArtwork(image, folder, signal);
        const renditions: ArtworkRendition[] = [];
        for (const { size, contentType, bytes: body } of rendered) {
          signal.throwIfAborted();
          const sha256 = createHash('sha256').update(body).digest('hex');
          const key = `artwork/${sha256}`;
          await store.put(key, body, { contentType });
          renditions.push({ size, contentType, storageKey: key, sha256, sizeBytes: BigInt(body.length) });
        }
        return { outcome: { $case: 'artwork', value: { renditions } } };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  };
}

async function readObject(store: ObjectStore, key: string): Promise<Buffer> {
  const stored = await store.find(key);
  if (!stored) throw refused('The uploaded image is not stored. Upload it again.');
  if (stored.sizeBytes > maxBytes) throw tooLarge();
  return await buffer(await store.get(key, { from: 0, to: stored.sizeBytes }));
}

async function readAddress(guardedFetch: GuardedFetch, url: string, signal: AbortSignal): Promise<Buffer> {
  using response = await guardedFetch(url, { maxBytes: maxBytes, timeoutMs: 15_000, signal });
  if (response.status !== 200)
    throw new MediaFault(
      'media_not_fetchable',
      `The address answers with status ${response.status}. Check it, or upload the image instead.`,
    );
  return await readAll(response);
}
