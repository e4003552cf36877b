import type { Readable } from 'node:stream';

interface ObjectInfo {
  readonly key: string;
  readonly sizeBytes: number;
  /** Without quotes. */
  readonly etag: string;
  readonly contentType: string;
  readonly modifiedAt: Date;
}

/** An object in a listing; S3's LIST carries no content type. */
export type ListedObject = Omit<ObjectInfo, 'contentType'>;

/** Half-open byte interval [from, to). */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

interface UploadedPart {
  readonly partNumber: number;
  readonly etag: string;
  readonly sizeBytes: number;
}

/** The bodies that a presigned PUT accepts, and its lifetime. */
export interface PutLimits {
  readonly expiresInSeconds: number;
  /** The URL accepts only a body of this length. */
  readonly sizeBytes?: number | undefined;
  /**
   * Lower-case hex. The URL accepts only a body with this SHA-256; the client must send `checksumHeaders` of it with the body.
   */
  readonly sha256?: string | undefined;
}

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
   * at most 5 GiB (`maxSinglePutBytes`).
   */
  copy(fromKey: string, toKey: string, options: { readonly etag: string }): Promise<boolean>;
  presignPut(key: string, limits: PutLimits): Promise<string>;
  presignGet(key: string, options: { readonly expiresInSeconds: number }): Promise<string>;
  createMultipartUpload(key: string, options: { readonly contentType: string }): Promise<string>;
  presignPart(key: string, uploadId: string, partNumber: number, limits: Omit<PutLimits, 'sha256'>): Promise<string>;
  /** The client POSTs S3's part list to this URL. */
  presignCompletion(key: string, uploadId: string, options: { readonly expiresInSeconds: number }): Promise<string>;
  listParts(key: string, uploadId: string): Promise<readonly UploadedPart[]>;
  /** False once it was joined or aborted. */
  isUploadOpen(key: string, uploadId: string): Promise<boolean>;
  /** Does nothing to an upload that was joined or aborted. */
  abortMultipartUpload(key: string, uploadId: string): Promise<void>;
}
