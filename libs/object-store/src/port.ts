import type { Readable } from 'node:stream';

export interface ObjectInfo {
  readonly key: string;
  readonly sizeBytes: number;
  /** Without quotes. */
  readonly etag: string;
  readonly contentType: string;
  readonly modifiedAt: Date;
}

/** What a listing says of an object; S3's LIST carries no content type. */
export type ListedObject = Omit<ObjectInfo, 'contentType'>;

/** Half-open byte interval [from, to). */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export interface UploadedPart {
  readonly partNumber: number;
  readonly etag: string;
  readonly sizeBytes: number;
}

/** S3 takes no more in one PUT, and copies no more at once: 5 GiB. */
export const singlePutBytesMax = 5 * 1024 ** 3;

/** One bucket of any S3. Every method rejects with the client's error when the store is unreachable. */
export interface ObjectStore {
  /** Creates the bucket when it does not exist. */
  ensureBucket(): Promise<void>;
  put(
    key: string,
    body: Buffer | Readable,
    options: { readonly contentType: string; readonly sizeBytes?: number },
  ): Promise<{ readonly etag: string }>;
  /** Stores a local file without holding it in memory. */
  putFile(key: string, path: string, options: { readonly contentType: string }): Promise<void>;
  /** Rejects with a `Problem('object_not_found')` when absent. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** Downloads into a local file (written beside it and renamed). */
  getFile(key: string, path: string): Promise<void>;
  find(key: string): Promise<ObjectInfo | undefined>;
  remove(key: string): Promise<void>;
  /** Keys in ascending order; with `after`, only those behind that key. */
  list(prefix: string, options?: { readonly after?: string }): AsyncIterable<ListedObject>;
  /**
   * Copies an object within the store while its ETag is still this one; false when it is another or gone. S3 copies objects of
   * at most 5 GiB (`singlePutBytesMax`).
   */
  copy(fromKey: string, toKey: string, options: { readonly etag: string }): Promise<boolean>;
  /** With `sizeBytes` the URL takes a body of exactly this length and no other. */
  presignPut(
    key: string,
    options: { readonly expiresInSeconds: number; readonly sizeBytes?: number | undefined },
  ): Promise<string>;
  presignGet(key: string, options: { readonly expiresInSeconds: number }): Promise<string>;
  createMultipartUpload(key: string, options: { readonly contentType: string }): Promise<string>;
  presignPart(
    key: string,
    uploadId: string,
    partNumber: number,
    options: { readonly expiresInSeconds: number; readonly sizeBytes?: number | undefined },
  ): Promise<string>;
  /** The client POSTs S3's part list to this URL. */
  presignCompletion(key: string, uploadId: string, options: { readonly expiresInSeconds: number }): Promise<string>;
  listParts(key: string, uploadId: string): Promise<readonly UploadedPart[]>;
  /** False once it was joined or aborted. */
  isUploadOpen(key: string, uploadId: string): Promise<boolean>;
  abortMultipartUpload(key: string, uploadId: string): Promise<void>;
}
