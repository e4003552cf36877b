import type { Pool } from '@longwave/postgres';
import { findResource } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { uploadUrlSeconds, type Upload } from './upload.ts';

export interface SignedUrl {
  readonly url: string;
  readonly expiresAtMs: bigint;
}

const failed = () => new Problem('validation_failed', 'URL generation failed');

/** Signed URLs for granted uploads. Throws `not_found` or, for a multipart that does not match, `validation_failed`. */
export function createUploadSigner(pool: Pool, store: ObjectStore, clock: () => Date) {
  const expiresInSeconds = uploadUrlSeconds;
  const signed = (url: string): SignedUrl => ({
    url,
    expiresAtMs: BigInt(clock().getTime() + expiresInSeconds * 1000),
  });

  async function granted(workspaceId: string, id: string): Promise<Upload> {
    const row = await findResource(pool, workspaceId, 'uploads', id);
    if (!row) throw new Problem('not_found', `There is no upload ${id.slice(0, 64)}.`);
    if (row.lifecycle_state !== 'granted') throw failed();
    return row.attributes as unknown as Upload;
  }

  async function multipart(workspaceId: string, key: string, multipartUploadId: string): Promise<void> {
    const id = /^uploads\/(upl_[0-9a-z]{26})\//.exec(key)?.[1];
    if (!id) throw failed();
    const upload = await granted(workspaceId, id).catch(() => {
      throw failed();
    });
    if (upload.multipart?.upload_key !== key || upload.multipart.multipart_upload_id !== multipartUploadId)
      throw failed();
  }

  return {
    async signUpload(workspaceId: string, uploadId: string): Promise<SignedUrl> {
      const upload = await granted(workspaceId, uploadId);
      return signed(await store.presignPut(upload.storage_key, { expiresInSeconds }));
    },
    async signPart(
      workspaceId: string,
      key: string,
      multipartUploadId: string,
      partNumber: number,
    ): Promise<SignedUrl> {
      if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > 10_000) throw failed();
      await multipart(workspaceId, key, multipartUploadId);
      return signed(await store.presignPart(key, multipartUploadId, partNumber, { expiresInSeconds }));
    },
    async signCompletion(workspaceId: string, key: string, multipartUploadId: string): Promise<SignedUrl> {
      await multipart(workspaceId, key, multipartUploadId);
      return signed(await store.presignCompletion(key, multipartUploadId, { expiresInSeconds }));
    },
  };
}

export type UploadSigner = ReturnType<typeof createUploadSigner>;
