import { createHash } from 'node:crypto';
import type { ChangesInput } from '@longwave/command-catalog';
import { readAll } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { fillMacros } from '@longwave/vast';
import { macrosNow, type AskDeps } from './ask-source.ts';
import { allowsHost, type DemandSource } from './demand-source.ts';
import type { UsableAd } from './judge-ad.ts';
import { listUnread } from './source-creative-table.ts';

export type StoredMedia = ChangesInput<'creative.import'>['source'];

interface Media {
  readonly bytes: Buffer;
  readonly sha256: string;
}

const maxBytes = 32 * 1024 * 1024;
const timeoutMs = 15_000;

/** Files of a source wait here until the encoder has read them. */
const folderOf = (sourceId: string) => `demand/${sourceId}/`;

/** Downloads the media file of an ad, once; a sentence when it cannot be downloaded. */
export async function takeMedia(
  { fetch, ...deps }: AskDeps,
  source: DemandSource,
  { mediaUrl }: UsableAd,
): Promise<Media | { readonly fault: string }> {
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
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Stores the media file of an ad for the encoder. */
export async function storeMedia(
  store: ObjectStore,
  ad: { readonly sourceId: string; readonly demandKey: string; readonly mediaType: string },
  { bytes, sha256 }: Media,
): Promise<StoredMedia> {
  const storageKey = `${folderOf(ad.sourceId)}${ad.demandKey}`;
  const { etag } = await store.put(storageKey, bytes, { contentType: ad.mediaType, sizeBytes: bytes.length });
  return { storage_key: storageKey, etag, sha256, size_bytes: bytes.length };
}

/** Removes the files of a source that no encoder has to read any more. Nothing may be imported for it at the same time. */
export async function removeReadMedia(
  { pool, store }: { readonly pool: Pool; readonly store: ObjectStore },
  workspaceId: string,
  sourceId: string,
): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(folderOf(sourceId))) keys.push(key);
  if (keys.length === 0) return;
  for (const key of await listUnread(pool, workspaceId, keys)) await store.remove(key);
}
