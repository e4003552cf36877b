import type { Actor } from '@longwave/command-pipeline';
import { maxUploadBytes } from '@longwave/command-catalog';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { looksLikeMedia } from '../media-clips/audio-format.ts';
import { probeRemoteFile, notFetchable } from '../media-clips/remote-file.ts';
import type { PublicFetch } from '../../outside/public-fetch.ts';
import { holdUpload, receivedUpload, type ReceivedUpload } from '../../workspace/uploads/find-upload.ts';
import { uploadIdOf, uploadIdOfKey } from '../../workspace/uploads/upload.ts';
import type { Source } from './production.ts';

export interface SourceOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly mediaUrl: string;
  readonly publicFetch: PublicFetch;
}

/** The place where an encoder finds the source. */
export type SourceLocation =
  { readonly kind: 'stored'; readonly found: ReceivedUpload } | { readonly kind: 'outside'; readonly url: string };

const path = '/changes/file_url';

/** Whether an address belongs to this installation: only uploads are taken from there. */
export const isOurs = (mediaUrl: string, url: string) => new URL(url).origin === new URL(mediaUrl).origin;

/** Throws unless the address answers with audio or video that is not too large. */
async function checkRemote(publicFetch: PublicFetch, url: string): Promise<void> {
  const { start, contentType, sizeBytes } = await probeRemoteFile(publicFetch, url, path);
  if (!looksLikeMedia(start, contentType))
    throw notFetchable(
      path,
      `The address answers with ${contentType?.slice(0, 80) ?? 'a file'}, which is neither audio nor video.`,
    );
  if ((sizeBytes ?? 0) > maxUploadBytes) throw notFetchable(path, 'File size exceeds the maximum allowed');
}

const sound = /^(audio\/|video\/|application\/ogg$)/;
/** Types of clients that state none. */
const unnamedTypes = /^(undefined|application\/octet-stream|binary\/octet-stream|application\/x-www-form-urlencoded)$/;
const inEnglish = new Intl.NumberFormat('en');

/** Throws `upload_not_received` naming the field unless the upload is audio or video of the granted type and size. */
async function checkAsGranted(store: ObjectStore, { upload, sizeBytes }: ReceivedUpload): Promise<void> {
  const { filename, filesize, content_type: granted, storage_key: key } = upload;
  const refuse = (detail: string) =>
    new Problem('upload_not_received', detail, { errors: [{ path, code: 'upload_not_received', detail }] });
  if (!sound.test(granted)) throw refuse(`${filename} is ${granted}. Name a file with audio or video.`);
  if (filesize !== undefined && filesize !== sizeBytes) {
    const [announced, arrived] = [filesize, sizeBytes].map((bytes) => inEnglish.format(bytes));
    throw refuse(
      `${filename} was announced with ${announced} bytes, but ${arrived} arrived. Upload the whole file again, or ask for another upload with the right size.`,
    );
  }
  const type = (await store.find(key))?.contentType.split(';')[0]!.trim().toLowerCase();
  if (type !== undefined && !sound.test(type) && !unnamedTypes.test(type))
    throw refuse(`${filename} was granted as ${granted}, but sent as ${type}. Send it with the granted content type.`);
}

/**
 * Finds the source that a `file_url` names: an upload of the workspace or of the actor, or a file at any other public address. Throws
 * `upload_not_received` or `media_not_fetchable` naming the field. `hold` keeps the upload until the transaction ends.
 */
export async function findSource(
  { pool, store, mediaUrl, publicFetch }: SourceOptions,
  request: {
    readonly workspaceId: string;
    readonly actor: Actor;
    readonly fileUrl: string;
    /**
     * An imported feed named the address. It may name any upload, so only those of the workspace count; and it may name thousands of files
     * of a slow host, so only the encoder requests these.
     */
    readonly isImported?: boolean;
  },
): Promise<{ readonly source: Source; readonly hold: (tx: Transaction) => Promise<void> }> {
  const { workspaceId, actor, fileUrl, isImported = false } = request;
  if (!isOurs(mediaUrl, fileUrl)) {
    if (!isImported) await checkRemote(publicFetch, fileUrl);
    return { source: { file_url: fileUrl }, hold: async () => undefined };
  }
  const uploadId = uploadIdOf(mediaUrl, fileUrl);
  const found = await receivedUpload(pool, store, {
    workspaceId,
    ...(!isImported && { actor }),
    uploadId,
    path,
  });
  await checkAsGranted(store, found);
  const { id, upload, workspaceId: owner } = found;
  return {
    source: {
      file_url: upload.file_url,
      // Links stay within one workspace.
      ...(owner === workspaceId && { upload_id: id }),
      storage_key: upload.storage_key,
    },
    hold: (tx) => holdUpload(tx, found, path),
  };
}

/** Locates the source of a production. Throws `production_has_no_audio` without one, `upload_not_received` without its upload or object. */
export async function locateSource(
  { pool, store }: Pick<SourceOptions, 'pool' | 'store'>,
  workspaceId: string,
  { storage_key: key, file_url: url }: Source,
): Promise<SourceLocation> {
  if (url === undefined)
    throw new Problem('production_has_no_audio', 'The production has no audio yet. Attach a file before you start it.');
  if (key === undefined) return { kind: 'outside', url };
  // The actor's right to the upload was checked when the production got it.
  const actor: Actor = { kind: 'service', name: 'management' };
  const uploadId = uploadIdOfKey(key);
  return {
    kind: 'stored',
    found: await receivedUpload(pool, store, { workspaceId, actor, uploadId, path: '/subject' }),
  };
}
