import { createHash } from 'node:crypto';
import type { ChangesInput } from '@longwave/command-catalog';
import { readAll } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { fillMacros } from '@longwave/vast';
import { macrosNow, type AskDeps } from './ask-source.ts';
import { allowsHost, type DemandSource } from './demand-source.ts';
import type { UsableAd } from './judge-ad.ts';

export type StoredMedia = ChangesInput<'creative.import'>['source'];

const maxBytes = 32 * 1024 * 1024;
const timeoutMs = 15_000;

/** Downloads the media file of an ad, once, and stores it; a sentence when it cannot be downloaded. */
export async function takeMedia(
  { fetch, store, ...deps }: AskDeps & { readonly store: ObjectStore },
  source: DemandSource,
  { mediaUrl, mediaType }: UsableAd,
): Promise<StoredMedia | { readonly fault: string }> {
  let bytes: Buffer;
  try {
    using response = await fetch(fillMacros(mediaUrl, macrosNow(deps)), {
      ...{ maxBytes, timeoutMs, maxRedirects: 2 },
      allowsHost: (host) => allowsHost(source.allowed_hosts, host),
    });
    if (response.status !== 200)
      return { fault: `The address of the media file answers with status ${response.status}.` };
    bytes = await readAll(response);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { fault: `The media file cannot be downloaded. ${error.message}` };
  }
  if (bytes.length === 0) return { fault: 'The media file is empty.' };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const storageKey = `demand/${sha256}`;
  const { etag } = await store.put(storageKey, bytes, { contentType: mediaType, sizeBytes: bytes.length });
  return { storage_key: storageKey, etag, sha256, size_bytes: bytes.length };
}
