import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** The bytes of an upload as its first use kept them: no URL writes this object (docs/adr/0023). */
export interface KeptUpload {
  readonly storageKey: string;
  readonly etag: string;
  readonly sizeBytes: number;
}

/** The kept bytes of an upload, or undefined while nothing has used it. */
export async function findKept(db: Pool | Transaction, uploadId: string): Promise<KeptUpload | undefined> {
  const { rows } = await db.query<Columns<'kept_upload', 'storage_key' | 'etag' | 'size_bytes'>>({
    name: 'find_kept_upload',
    text: 'select storage_key, etag, size_bytes from kept_upload where upload_id = $1',
    values: [uploadId],
  });
  return rows[0] && { storageKey: rows[0].storage_key, etag: rows[0].etag, sizeBytes: Number(rows[0].size_bytes) };
}

/** Records the kept bytes of an upload; the first record stays and is returned. */
export async function saveKept(tx: Transaction, uploadId: string, kept: KeptUpload): Promise<KeptUpload> {
  await tx.query({
    name: 'save_kept_upload',
    text: `insert into kept_upload (upload_id, storage_key, etag, size_bytes) values ($1, $2, $3, $4)
           on conflict (upload_id) do nothing`,
    values: [uploadId, kept.storageKey, kept.etag, kept.sizeBytes],
  });
  return (await findKept(tx, uploadId))!;
}
