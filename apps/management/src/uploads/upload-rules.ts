import { partSizeBytes, type productCatalog } from '@longwave/command-catalog';
import { findResource, type Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { contentTypeOf } from './content-type.ts';
import { fileUrlOf, storageKeyOf, type Upload } from './upload.ts';

type UploadRules = Pick<Rules<typeof productCatalog>, 'upload.grant'>;

/** Rules of the upload commands. */
export const uploadRules = (store: ObjectStore, mediaUrl: string): UploadRules => ({
  'upload.grant': {
    prepare: async ({ changes, subjectId }) => {
      const contentType = contentTypeOf(changes.filename);
      if (!contentType) {
        const detail = 'Unsupported content type';
        throw new Problem('validation_failed', detail, {
          errors: [{ path: '/changes/filename', code: 'unsupported_content_type', detail }],
        });
      }
      const storageKey = storageKeyOf(subjectId, changes.filename);
      const multipart =
        (changes.filesize ?? 0) > partSizeBytes
          ? {
              upload_key: storageKey,
              part_size: partSizeBytes as typeof partSizeBytes,
              multipart_upload_id: await store.createMultipartUpload(storageKey, { contentType }),
            }
          : undefined;
      const attributes: Upload = {
        filename: changes.filename,
        content_type: contentType,
        ...(changes.filesize !== undefined && { filesize: changes.filesize }),
        upload_type: changes.upload_type ?? 'public',
        storage_key: storageKey,
        file_url: fileUrlOf(mediaUrl, subjectId, changes.filename),
        ...(multipart && { multipart }),
      };
      return () => ({ attributes });
    },
  },
});

/** The upload of this workspace, once its bytes are in the store. Throws `upload_not_received` naming the field. */
export async function receivedUpload(
  db: Pool | Transaction,
  store: ObjectStore,
  workspaceId: string,
  uploadId: string | undefined,
  path: string,
): Promise<{ readonly id: string; readonly upload: Upload; readonly etag: string }> {
  const refuse = (detail: string) =>
    new Problem('upload_not_received', detail, { errors: [{ path, code: 'upload_not_received', detail }] });
  const row = uploadId === undefined ? undefined : await findResource(db, workspaceId, 'uploads', uploadId);
  if (!row || !['granted', 'received'].includes(row.lifecycle_state))
    throw refuse('Name a file that was uploaded to this account.');
  const upload = row.attributes as unknown as Upload;
  const object = await store.find(upload.storage_key);
  if (!object) throw refuse(`Upload ${upload.filename} before you use it.`);
  return { id: row.id, upload, etag: object.etag };
}
