import { partSizeBytes, type Attributes } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { findResource, findRevisionBefore, type ResourceRow } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { findKept } from './kept-upload-table.ts';
import { storageKeyOf, uploadIdOfKey, uploadLifeMs, uploadUrlSeconds, type Upload } from './upload.ts';

export interface SignedUrl {
  readonly url: string;
  readonly expiresAtMs: bigint;
}

const failed = () => new Problem('validation_failed', 'URL generation failed');

/** Bytes of one part; only the last part is smaller than the others. Undefined when the file has no such part. */
export function partSizeOf(filesize: number, partNumber: number): number | undefined {
  const parts = Math.ceil(filesize / partSizeBytes);
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > parts) return undefined;
  return partNumber < parts ? partSizeBytes : filesize - (parts - 1) * partSizeBytes;
}

/**
 * Signs URLs that write and read uploads, and read what is made of them. Throws `not_found`, or `validation_failed` for an upload that has ended or ends soon, and for a
 * multipart upload that does not match. No URL outlives the upload that it writes.
 */
export function createUploadSigner(pool: Pool, store: ObjectStore, clock: () => Date) {
  const expiresInSeconds = uploadUrlSeconds;
  const signed = (url: string): SignedUrl => ({
    url,
    expiresAtMs: BigInt(clock().getTime() + expiresInSeconds * 1000),
  });

  /** Whether a URL that is signed now expires before the clock can end the upload. */
  function livesLongEnough(row: ResourceRow<'uploads'>): boolean {
    const { lifecycle_state: state, created_at: grantedAt } = row;
    if (state === 'received' && row.attributes.upload_type !== 'temporary') return true;
    const endsAtMs = grantedAt.getTime() + uploadLifeMs;
    return ['granted', 'received'].includes(state) && clock().getTime() + expiresInSeconds * 1000 <= endsAtMs;
  }

  async function multipart(workspaceId: string, key: string, multipartUploadId: string): Promise<Upload> {
    const id = uploadIdOfKey(key);
    const row = id === undefined ? undefined : await findResource(pool, workspaceId, 'uploads', id);
    if (row?.lifecycle_state !== 'granted' || !livesLongEnough(row)) throw failed();
    const upload = row.attributes;
    const { multipart: found } = upload;
    if (found?.upload_key !== key || found.multipart_upload_id !== multipartUploadId) throw failed();
    return upload;
  }

  /** Whether the parts were joined, which ends the multipart upload. A PUT of the whole file leaves it open. */
  async function isJoined(key: string, multipartUploadId: string): Promise<boolean> {
    return (await store.find(key)) !== undefined && !(await store.isUploadOpen(key, multipartUploadId));
  }

  async function signPart(
    workspaceId: string,
    key: string,
    multipartUploadId: string,
    partNumber: number,
  ): Promise<SignedUrl> {
    const { filesize = 0 } = await multipart(workspaceId, key, multipartUploadId);
    const sizeBytes = partSizeOf(filesize, partNumber);
    if (sizeBytes === undefined || (await isJoined(key, multipartUploadId))) throw failed();
    return signed(await store.presignPart(key, multipartUploadId, partNumber, { expiresInSeconds, sizeBytes }));
  }

  return {
    /**
     * Also for a file that has arrived: a client that repeats a grant under its key may repeat the upload too. Bytes that are sent after the
     * first use are never read (docs/adr/0023).
     */
    async signUpload(workspaceId: string, uploadId: string): Promise<SignedUrl> {
      const row = await findResource(pool, workspaceId, 'uploads', uploadId);
      if (!row) throw new Problem('not_found', `There is no upload ${uploadId.slice(0, 64)}.`);
      if (!livesLongEnough(row))
        throw new Problem('validation_failed', 'This upload has ended. Use another idempotency key for a new one.');
      const { filename, filesize: sizeBytes, checksum_sha256: sha256 } = row.attributes;
      return signed(await store.presignPut(storageKeyOf(uploadId, filename), { expiresInSeconds, sizeBytes, sha256 }));
    },
    /** For any upload that has not ended, with its size once the file has arrived. */
    async signDownload(workspaceId: string, uploadId: string) {
      const row = await findResource(pool, workspaceId, 'uploads', uploadId);
      if (!row || !['granted', 'received'].includes(row.lifecycle_state))
        throw new Problem('not_found', `There is no upload ${uploadId.slice(0, 64)}.`);
      const { storage_key: sent } = row.attributes;
      const key = (await findKept(pool, uploadId))?.storageKey ?? sent;
      const [url, file] = await Promise.all([store.presignGet(key, { expiresInSeconds }), store.find(key)]);
      return { ...signed(url), sizeBytes: file && BigInt(file.sizeBytes) };
    },
    signPart,
    /** The part of an upload that `upload.sign_part` asked for; undefined when it asked for none, or not for this one. */
    async signAskedPart(workspaceId: string, uploadId: string, partNumber: number): Promise<SignedUrl | undefined> {
      const row = await findResource(pool, workspaceId, 'uploads', uploadId);
      const found = row?.attributes.multipart;
      if (!row || !found) return undefined;
      // The first version with this part follows one without it: the command asked for it.
      const asked = await findRevisionBefore(pool, row, 'last_signed_part', String(partNumber));
      return asked && signPart(workspaceId, found.upload_key, found.multipart_upload_id, partNumber);
    },
    /**
     * Of the peaks that the encoder made, and of the audio that they are of. Throws `not_found` while there are no peaks, and where the store has them no
     * more; `audioUrl` is undefined where it has no audio.
     */
    async signWaveform(
      workspaceId: string,
      productionId: string,
    ): Promise<SignedUrl & { readonly audioUrl: string | undefined }> {
      const row = await findResource(pool, workspaceId, 'productions', productionId);
      const urlOf = async (role: 'waveform' | 'rendition') => {
        const key = row?.attributes.files.find((file) => file.role === role)?.storage_key;
        const file = key === undefined ? undefined : await store.find(key);
        return file && store.presignGet(file.key, { expiresInSeconds });
      };
      const [url, audioUrl] = await Promise.all([urlOf('waveform'), urlOf('rendition')]);
      if (url === undefined) throw new Problem('not_found', `Production ${productionId.slice(0, 64)} has no waveform.`);
      return { ...signed(url), audioUrl };
    },
    /** Of the first stream of a creative that the store has. Throws `not_found` for one without. */
    async signCreative<S extends Attributes<'creatives'>['media'][number]>(creativeId: string, media: readonly S[]) {
      for (const stream of media) {
        const file = await store.find(stream.storage_key);
        if (file) return { ...signed(await store.presignGet(file.key, { expiresInSeconds })), stream };
      }
      throw new Problem('not_found', `Creative ${creativeId.slice(0, 64)} has no stream that can be heard.`);
    },
    async signCompletion(workspaceId: string, key: string, multipartUploadId: string): Promise<SignedUrl> {
      await multipart(workspaceId, key, multipartUploadId);
      return signed(await store.presignCompletion(key, multipartUploadId, { expiresInSeconds }));
    },
  };
}

export type UploadSigner = ReturnType<typeof createUploadSigner>;
