import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { findAnywhere, holdResource, type Actor } from '@longwave/command-pipeline';
import { maxSinglePutBytes, type ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { findKept, saveKept, type KeptUpload } from './kept-upload-table.ts';
import { keptKeyOf, type Upload } from './upload.ts';

/** An upload whose bytes are in the store; its `storage_key` names bytes that no URL can write. */
export interface ReceivedUpload {
  readonly id: string;
  readonly workspaceId: string;
  readonly upload: Upload;
  readonly etag: string;
  readonly sizeBytes: number;
}

const living: readonly string[] = ['granted', 'received'];

const refuse = (path: string, detail: string) =>
  new Problem('upload_not_received', detail, { errors: [{ path, code: 'upload_not_received', detail }] });
const unknown = (path: string) => refuse(path, 'Name a file that was uploaded to this account.');

/**
 * Uploads are granted in the caller's own workspace, also to a collaborator on a podcast of another one. A service uses uploads that a
 * person was allowed to name.
 */
function mayUse(actor: Actor | undefined, workspaceId: string, owner: string): boolean {
  if (owner === workspaceId || actor === undefined) return owner === workspaceId;
  return actor.kind === 'service' || actor.principal.workspace_id === owner;
}

const changing = () =>
  new Problem('temporarily_unavailable', 'The file was uploaded again at the same moment. Try again.', {
    retryAfterSeconds: 1,
  });

/** The encoder compares larger files, because it reads them anyway and a request cannot wait so long. */
const maxComparedBytes = 256 * 1024 ** 2;

/**
 * Throws `upload_not_received` when the bytes have another SHA-256 than was announced. A store that knows the checksum has compared the
 * bytes of a single PUT already; for a file in parts this is the first comparison.
 */
async function checkSum(
  store: ObjectStore,
  kept: KeptUpload,
  { filename, checksum_sha256: sum }: Upload,
  path: string,
) {
  if (sum === undefined || kept.sizeBytes > maxComparedBytes) return;
  const hash = createHash('sha256');
  await pipeline(await store.get(kept.storageKey), hash);
  if (hash.digest('hex') === sum) return;
  throw refuse(
    path,
    `${filename} was announced with the SHA-256 ${sum}, but other bytes arrived. Upload the file again, or ask for another upload with the right checksum.`,
  );
}

/**
 * The kept bytes of an upload: those of its first use, else a copy of the present ones (docs/adr/0023). A file above 5 GiB comes in parts;
 * once they are joined no URL writes the object, so it needs no copy. Undefined when nothing was sent. Throws `temporarily_unavailable`
 * when the bytes are being replaced, `upload_not_received` when they differ from the announced ones.
 */
async function keep(
  db: Pool | Transaction,
  store: ObjectStore,
  uploadId: string,
  upload: Upload,
  path: string,
): Promise<KeptUpload | undefined> {
  const kept = await findKept(db, uploadId);
  // Bytes that were sent later never replace kept ones, even when those are lost.
  if (kept) return (await store.find(kept.storageKey)) ? kept : undefined;
  const key = upload.storage_key;
  const sent = await store.find(key);
  if (!sent) return undefined;
  const { etag, sizeBytes } = sent;
  if (sizeBytes > maxSinglePutBytes) return { storageKey: key, etag, sizeBytes };
  const storageKey = keptKeyOf(key, etag);
  const earlier = await store.find(storageKey);
  // A client may send the same bytes again with another type, after the first type was refused.
  const isCopied = earlier?.contentType === sent.contentType;
  if (!isCopied && !(await store.copy(key, storageKey, { etag }))) throw changing();
  const copy = isCopied ? earlier : await store.find(storageKey);
  if (!copy) throw changing();
  const found = { storageKey, etag: copy.etag, sizeBytes: copy.sizeBytes };
  await checkSum(store, found, upload, path);
  return found;
}

/** The announced checksum of a source, for its job: the encoder compares it. */
export const declaredChecksum = ({ upload: { checksum_sha256: sum } }: Pick<ReceivedUpload, 'upload'>) =>
  sum === undefined ? {} : { declared_sha256: sum };

/**
 * Finds an upload of the workspace, or of the actor's own one, whose bytes are in the store. `holdUpload` fixes the bytes for good. Throws
 * `upload_not_received` naming the field, or `temporarily_unavailable`.
 */
export async function receivedUpload(
  db: Pool | Transaction,
  store: ObjectStore,
  request: {
    readonly workspaceId: string;
    readonly actor?: Actor;
    readonly uploadId: string | undefined;
    readonly path: string;
  },
): Promise<ReceivedUpload> {
  const { workspaceId, actor, uploadId, path } = request;
  const row = uploadId === undefined ? undefined : await findAnywhere(db, 'uploads', uploadId);
  if (!row || !living.includes(row.lifecycle_state) || !mayUse(actor, workspaceId, row.workspace_id))
    throw unknown(path);
  const upload = row.attributes;
  const kept = await keep(db, store, row.id, upload, path);
  if (!kept) throw refuse(path, `Upload ${upload.filename} before you use it.`);
  const { storageKey, etag, sizeBytes } = kept;
  return { id: row.id, workspaceId: row.workspace_id, upload: { ...upload, storage_key: storageKey }, etag, sizeBytes };
}

/**
 * Holds an upload until the transaction ends, so that it cannot expire meanwhile, and fixes its bytes for every later use. Throws
 * `upload_not_received` when it has just ended, `temporarily_unavailable` when other bytes were used first.
 */
export async function holdUpload(tx: Transaction, found: ReceivedUpload, path: string): Promise<void> {
  const state = await holdResource(tx, found.workspaceId, 'uploads', found.id);
  if (state === undefined || !living.includes(state)) throw unknown(path);
  const { upload, etag, sizeBytes } = found;
  const kept = await saveKept(tx, found.id, { storageKey: upload.storage_key, etag, sizeBytes });
  if (kept.storageKey !== upload.storage_key) throw changing();
}
