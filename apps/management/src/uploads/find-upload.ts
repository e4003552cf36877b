import { findAnywhere, type Actor } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Upload } from './upload.ts';

/** An upload whose bytes are in the store. */
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
 * Uploads are granted in the caller's own workspace, also to a collaborator of another's podcast. A service acts on what a
 * person was allowed to name.
 */
function mayUse(actor: Actor | undefined, workspaceId: string, owner: string): boolean {
  if (owner === workspaceId || actor === undefined) return owner === workspaceId;
  return actor.kind === 'service' || actor.principal.workspace_id === owner;
}

/**
 * An upload of the workspace, or of the actor's own one when there is an actor, once its bytes are in the store.
 * Throws `upload_not_received` naming the field.
 */
export async function receivedUpload(
  db: Pool | Transaction,
  store: ObjectStore,
  named: {
    readonly workspaceId: string;
    readonly actor?: Actor;
    readonly uploadId: string | undefined;
    readonly path: string;
  },
): Promise<ReceivedUpload> {
  const { workspaceId, actor, uploadId, path } = named;
  const row = uploadId === undefined ? undefined : await findAnywhere(db, 'uploads', uploadId);
  if (!row || !living.includes(row.lifecycle_state) || !mayUse(actor, workspaceId, row.workspace_id))
    throw unknown(path);
  const upload = row.attributes as unknown as Upload;
  const object = await store.find(upload.storage_key);
  if (!object) throw refuse(path, `Upload ${upload.filename} before you use it.`);
  return { id: row.id, workspaceId: row.workspace_id, upload, etag: object.etag, sizeBytes: object.sizeBytes };
}

/**
 * Holds an upload until the transaction ends: it cannot expire while something begins to use it. Throws
 * `upload_not_received` when it has just ended.
 */
export async function holdUpload(tx: Transaction, uploadId: string, path: string): Promise<void> {
  const { rows } = await tx.query<{ lifecycle_state: string }>({
    name: 'hold_upload',
    text: `select lifecycle_state from resource where id = $1 and resource_type = 'uploads' for share`,
    values: [uploadId],
  });
  if (!rows[0] || !living.includes(rows[0].lifecycle_state)) throw unknown(path);
}
