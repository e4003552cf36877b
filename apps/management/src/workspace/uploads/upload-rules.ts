import { partSizeBytes, type productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { isProblem, Problem } from '@longwave/problems';
import { contentTypeOf } from './content-type.ts';
import { holdUpload, receivedUpload } from './find-upload.ts';
import { partSizeOf } from './sign-upload.ts';
import { fileUrlOf, storageKeyOf, type Upload } from './upload.ts';
import { fileUsers, isBeingRead, isNamed } from './upload-use-table.ts';

type UploadRules = Pick<
  Rules<typeof productCatalog>,
  'upload.grant' | 'upload.sign_part' | 'upload.complete' | 'upload.expire' | 'upload.abort'
>;

const inUse = () => new Problem('state_not_allowed', 'The file is in use.');

/** Rules of the upload commands. */
export const uploadRules = (pool: Pool, store: ObjectStore, mediaUrl: string): UploadRules => ({
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
        ...(changes.checksum_sha256 !== undefined && { checksum_sha256: changes.checksum_sha256 }),
        upload_type: changes.upload_type ?? 'public',
        storage_key: storageKey,
        file_url: fileUrlOf(mediaUrl, subjectId, changes.filename),
        ...(multipart && { multipart }),
      };
      return () => ({ attributes });
    },
  },

  /** Records that the part was asked for. Its address is signed when it is read: what is stored holds no secret. */
  'upload.sign_part': ({ current, changes }) => {
    const { multipart, filesize = 0 } = current;
    const detail =
      multipart === undefined
        ? 'The file is sent in one piece: use its address.'
        : partSizeOf(filesize, changes.part_number) === undefined
          ? `The file has ${Math.ceil(filesize / partSizeBytes)} parts.`
          : undefined;
    if (detail !== undefined)
      throw new Problem('validation_failed', detail, {
        errors: [{ path: '/changes/part_number', code: 'no_such_part', detail }],
      });
    return { attributes: { ...current, last_signed_part: changes.part_number } };
  },

  /**
   * From now on the upload's address serves the kept bytes. A client may name an address before it sends the file, but a person who says
   * that it is there has sent it.
   */
  'upload.complete': {
    prepare: async ({ workspaceId, subjectId, actor }) => {
      const path = '/subject';
      const found = await receivedUpload(pool, store, { workspaceId, uploadId: subjectId, path }).catch((error) => {
        if (actor.kind === 'service' && isProblem(error, 'upload_not_received')) return undefined;
        throw error;
      });
      return async ({ tx, current }) => {
        if (!found) return { attributes: current };
        await holdUpload(tx, found, path);
        return { attributes: { ...current, storage_key: found.upload.storage_key } };
      };
    },
  },

  /** A file that a worker has yet to read stays; a public one also when it was received or a resource names it. */
  'upload.expire': async ({ tx, workspaceId, subjectId, current, state }) => {
    const needed =
      (await isBeingRead(tx, subjectId)) ||
      (current.upload_type !== 'temporary' && (state === 'received' || (await isNamed(tx, workspaceId, subjectId))));
    if (needed) throw inUse();
    return { attributes: current };
  },

  /** A failed production is no user of its file. */
  'upload.abort': async ({ tx, workspaceId, subjectId, current }) => {
    const needed =
      (await isBeingRead(tx, subjectId)) || (await isNamed(tx, workspaceId, subjectId, fileUsers, { butFailed: true }));
    if (needed) throw inUse();
    return { attributes: current };
  },
});
