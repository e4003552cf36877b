import { rest } from '../client.ts';
import type { FileFacts } from './plan-upload.ts';

/** What a file is for: `artwork`, `ad`, or the episode whose recording it is. */
type UploadTarget = { readonly target: string };
type Signing = { readonly upload_key: string; readonly multipart_upload_id: string };

const uploadIdIn = (fileUrl: string) => /\/(upl_[0-9a-z]{26})\//.exec(fileUrl)?.[1] ?? '';

/** The routes of REST v1 that an upload needs. */
export const grants = {
  /**
   * Under the same key: the same grant, while it lives. 422 afterwards, and for a type that the service cannot use. Only artwork is read by
   * everybody; what is encoded is read by the service alone, so nobody can fetch the recording of an unpublished episode.
   */
  grant: async ({ name, size, target }: FileFacts & UploadTarget, key: string, signal: AbortSignal) => {
    const upload_type = target === 'artwork' ? 'public' : 'private';
    const body = { filename: name, filesize: size, upload_type, idempotency_key: key } as const;
    return (await rest.POST('/uploads', { body, signal })).data!;
  },
  /** The signed address of one part. 422 when the grant has ended, or the parts were joined. */
  partUrl: async ({ upload_key, multipart_upload_id }: Signing, part_number: number, signal: AbortSignal) => {
    const body = { upload_key, multipart_upload_id, part_number };
    return (await rest.POST('/uploads/part_url', { body, signal })).data!.url;
  },
  /** The signed address that takes the list of parts. 422 when the grant has ended. */
  completionUrl: async ({ upload_key, multipart_upload_id }: Signing, signal: AbortSignal) => {
    const body = { upload_key, multipart_upload_id };
    return (await rest.POST('/uploads/complete_multipart_url', { body, signal })).data!.url;
  },
  /** Bytes that the store has of a file; undefined when it has none, or the upload has ended. */
  storedSize: async (fileUrl: string, signal: AbortSignal) => {
    return (await rest.GET('/uploads/{id}', { params: { path: { id: uploadIdIn(fileUrl) } }, signal })).data!.size;
  },
  /** Ends a grant; what the store has of it is removed. 409 once something uses the file. */
  abort: async (fileUrl: string): Promise<void> => {
    await rest.DELETE('/uploads/{id}', { params: { path: { id: uploadIdIn(fileUrl) } } });
  },
};

export type Grants = typeof grants;
