import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Problem } from '@longwave/problems';
import type { ObjectStoreConfig } from '@longwave/service-kit';
import { AwsV4Signer } from 'aws4fetch';
import { Client, CopyDestinationOptions, CopySourceOptions, S3Error } from 'minio';
import { checksumHeaders } from './checksum.ts';
import { cutPieces } from './cut-pieces.ts';
import type { ListedObject, ObjectStore, PutLimits } from './port.ts';

export interface ObjectStoreOptions {
  /** Where this process reaches the store, `http(s)://host[:port]`. */
  readonly endpoint: string;
  /** Where clients reach it, in presigned URLs; default: `endpoint`. */
  readonly publicEndpoint?: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Above S3's minimum of 5 MiB for a part; the most of one body that is in memory. */
const pieceSizeBytes = 8 * 1024 ** 2;
const listPageSize = 1000;
const maxExpiresInSeconds = 7 * 24 * 3600;

/** The object store of a service. */
export const objectStoreFromConfig = (config: ObjectStoreConfig): ObjectStore =>
  createObjectStore({
    endpoint: config.S3_ENDPOINT,
    publicEndpoint: config.S3_PUBLIC_ENDPOINT,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    accessKey: config.S3_ACCESS_KEY,
    secretKey: config.S3_SECRET_KEY,
  });

/**
 * The port over any S3 by the `minio` client. Bodies of more than 8 MiB are sent as multipart uploads of 8 MiB parts.
 * @throws TypeError when an endpoint is not a plain `http(s)://host[:port]`
 */
export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const { bucket, region } = options;
  const client = createClient(options.endpoint, options);
  const publicClient = createClient(options.publicEndpoint ?? options.endpoint, options);

  async function putPieces(
    key: string,
    pieces: AsyncGenerator<Buffer, void, void>,
    contentType: string,
  ): Promise<string> {
    const headers = { 'content-type': contentType };
    const first = await pieces.next();
    const second = first.done ? first : await pieces.next();
    if (second.done) {
      const body = first.done ? Buffer.alloc(0) : first.value;
      return (await client.putObject(bucket, key, body, body.length, headers)).etag;
    }
    const uploadId = await client.initiateNewMultipartUpload(bucket, key, headers);
    try {
      const parts: { part: number; etag: string }[] = [];
      const send = async (piece: Buffer) => {
        const partNumber = parts.length + 1;
        const part = { bucketName: bucket, objectName: key, uploadID: uploadId, partNumber, headers: {} };
        parts.push({ part: partNumber, etag: (await client.uploadPart(part, piece)).etag });
      };
      await send(first.value as Buffer);
      await send(second.value);
      for await (const piece of pieces) await send(piece);
      return (await client.completeMultipartUpload(bucket, key, uploadId, parts)).etag;
    } catch (error) {
      await client.abortMultipartUpload(bucket, key, uploadId).catch(() => {});
      throw error;
    } finally {
      await pieces.return();
    }
  }

  async function presign(
    method: string,
    key: string,
    limits: PutLimits,
    query: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { expiresInSeconds, sizeBytes, sha256 } = limits;
    if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > maxExpiresInSeconds)
      throw new RangeError(`A presigned URL lives 1 to ${maxExpiresInSeconds} seconds`);
    const url = await publicClient.presignedUrl(method, bucket, key, expiresInSeconds, { ...query });
    const headers = {
      ...(sizeBytes !== undefined && { 'content-length': String(sizeBytes) }),
      ...(sha256 !== undefined && checksumHeaders(sha256)),
    };
    return Object.keys(headers).length === 0 ? url : signHeaders(url, method, headers, options);
  }

  const store: ObjectStore = {
    async ensureBucket() {
      if (await client.bucketExists(bucket)) return;
      await client.makeBucket(bucket, region).catch((error: unknown) => {
        if (!isS3Error(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw error;
      });
    },

    async put(key, body, { contentType, sizeBytes }) {
      const source = Buffer.isBuffer(body) ? [body] : body;
      return { etag: await putPieces(key, cutPieces(source, { pieceSizeBytes, sizeBytes }), contentType) };
    },

    async putFile(key, path, { contentType }) {
      await putPieces(key, cutPieces(createReadStream(path), { pieceSizeBytes }), contentType);
    },

    async get(key, range) {
      if (range && range.to <= range.from) {
        if (!(await store.find(key))) throw objectNotFound();
        return Readable.from([]);
      }
      try {
        if (!range) return await client.getObject(bucket, key);
        return await client.getPartialObject(bucket, key, range.from, range.to - range.from);
      } catch (error) {
        if (isS3Error(error, 'NoSuchKey', 'NotFound')) throw objectNotFound();
        if (isS3Error(error, 'InvalidRange'))
          throw new Problem('range_not_satisfiable', 'Request a range inside the object.', { cause: error });
        throw error;
      }
    },

    async getFile(key, path) {
      const body = await store.get(key);
      const part = `${path}.${randomUUID()}.part`;
      try {
        const file = await open(part, 'wx');
        try {
          for await (const chunk of body as AsyncIterable<Buffer>) await file.writeFile(chunk);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(part, path);
      } catch (error) {
        body.destroy();
        await rm(part, { force: true });
        throw error;
      }
    },

    async find(key) {
      try {
        const { size, etag, lastModified, metaData } = await client.statObject(bucket, key);
        const contentType = String(metaData['content-type']);
        return { key, sizeBytes: size, etag, contentType, modifiedAt: lastModified };
      } catch (error) {
        if (isS3Error(error, 'NoSuchKey', 'NotFound')) return undefined;
        throw error;
      }
    },

    async copy(fromKey, toKey, { etag }) {
      try {
        await client.copyObject(
          new CopySourceOptions({ Bucket: bucket, Object: fromKey, MatchETag: etag }),
          new CopyDestinationOptions({ Bucket: bucket, Object: toKey }),
        );
        return true;
      } catch (error) {
        if (isS3Error(error, 'NoSuchKey', 'NotFound', 'PreconditionFailed')) return false;
        throw error;
      }
    },

    async remove(key) {
      await client.removeObject(bucket, key);
    },

    async *list(prefix, { after = '' } = {}): AsyncGenerator<ListedObject> {
      let marker = after;
      for (let more = true; more;) {
        // The client's own paging and its second version of the call misread some keys.
        const page = await client.listObjectsQuery(bucket, prefix, marker, { Delimiter: '', MaxKeys: listPageSize });
        marker = '';
        for (const { name: key, size, etag, lastModified } of page.objects) {
          if (!key) continue;
          marker = key;
          yield {
            key,
            sizeBytes: size ?? 0,
            etag: (etag ?? '').replaceAll('"', ''),
            modifiedAt: new Date(lastModified ?? 0),
          };
        }
        more = page.isTruncated === true && marker !== '';
      }
    },

    presignPut: async (key, limits) => presign('PUT', key, limits),

    presignGet: async (key, lifetime) => presign('GET', key, lifetime),

    createMultipartUpload: (key, { contentType }) =>
      client.initiateNewMultipartUpload(bucket, key, { 'content-type': contentType }),

    presignPart: async (key, uploadId, partNumber, limits) =>
      presign('PUT', key, limits, { uploadId, partNumber: String(partNumber) }),

    presignCompletion: async (key, uploadId, lifetime) => presign('POST', key, lifetime, { uploadId }),

    async listParts(key, uploadId) {
      const parts = await client.listParts(bucket, key, uploadId);
      return parts.map(({ part, etag, size }) => ({ partNumber: part, etag, sizeBytes: size }));
    },

    async isUploadOpen(key, uploadId) {
      try {
        await client.listParts(bucket, key, uploadId);
        return true;
      } catch (error) {
        if (isS3Error(error, 'NoSuchUpload')) return false;
        throw error;
      }
    },

    async abortMultipartUpload(key, uploadId) {
      await client.abortMultipartUpload(bucket, key, uploadId);
    },
  };
  return store;
}

/** The same presigned URL, signed once more with headers that its request must have, which the client has no means for. */
async function signHeaders(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  access: ObjectStoreOptions,
): Promise<string> {
  const signed = new URL(url);
  signed.searchParams.delete('X-Amz-Signature');
  const signer = new AwsV4Signer({
    method,
    url: signed.href,
    headers: { ...headers },
    accessKeyId: access.accessKey,
    secretAccessKey: access.secretKey,
    service: 's3',
    region: access.region,
    signQuery: true,
    allHeaders: true,
  });
  return (await signer.sign()).url.href;
}

/** The client types `listParts` as protected; it is the only call for it. */
class PartListingClient extends Client {
  override listParts(bucketName: string, objectName: string, uploadId: string) {
    return super.listParts(bucketName, objectName, uploadId);
  }
}

function createClient(endpoint: string, options: ObjectStoreOptions): PartListingClient {
  const url = new URL(endpoint);
  if (!/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.username)
    throw new TypeError('An object store endpoint must be http(s)://host[:port]');
  const useSSL = url.protocol === 'https:';
  return new PartListingClient({
    endPoint: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (useSSL ? 443 : 80) : Number(url.port),
    useSSL,
    region: options.region,
    accessKey: options.accessKey,
    secretKey: options.secretKey,
    // The client would print its retries to the console.
    retryOptions: { disableRetry: true },
  });
}

const isS3Error = (error: unknown, ...codes: readonly string[]) =>
  error instanceof S3Error && codes.includes(error.code ?? '');

const objectNotFound = () => new Problem('object_not_found', 'Check the key; the object may have been removed.');
