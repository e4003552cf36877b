import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Problem } from '@longwave/problems';
import type { ObjectStoreConfig } from '@longwave/service-kit';
import { CopyDestinationOptions, CopySourceOptions } from 'minio';
import type { ListedObject, ObjectStore } from './port.ts';
import { createPresign } from './presign.ts';
import { putPieces } from './put-pieces.ts';
import { createS3Client, isS3Error, type S3Access } from './s3-client.ts';

export interface ObjectStoreOptions extends S3Access {
  /** The store's address for this process, `http(s)://host[:port]`. */
  readonly endpoint: string;
  /** The store's address for clients, in presigned URLs; default: `endpoint`. */
  readonly publicEndpoint?: string;
  readonly bucket: string;
  /** A request is given up when no byte of it has moved for so long. Default: 30 s. */
  readonly silenceMs?: number;
}

const listPageSize = 1000;
/** The object store of a service, with the keys that its configuration has at each request. */
export const objectStoreFromConfig = (config: ObjectStoreConfig): ObjectStore =>
  createObjectStore({
    endpoint: config.S3_ENDPOINT,
    publicEndpoint: config.S3_PUBLIC_ENDPOINT,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    get accessKey() {
      return config.S3_ACCESS_KEY;
    },
    get secretKey() {
      return config.S3_SECRET_KEY;
    },
  });

/**
 * The port over any S3 by the `minio` client. Bodies of more than 8 MiB are sent as multipart uploads of 8 MiB parts.
 * @throws TypeError when an endpoint is not a plain `http(s)://host[:port]`
 */
export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const { bucket, region } = options;
  const client = createS3Client(options.endpoint, options, options.silenceMs);
  const presign = createPresign(options.publicEndpoint ?? options.endpoint, bucket, options);

  const store: ObjectStore = {
    async ensureBucket() {
      if (await client.bucketExists(bucket)) return;
      await client.makeBucket(bucket, region).catch((error: unknown) => {
        if (!isS3Error(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw error;
      });
    },

    async put(key, body, { contentType, sizeBytes }) {
      const source = Buffer.isBuffer(body) ? [body] : body;
      return { etag: await putPieces(client, bucket, key, source, { contentType, sizeBytes }) };
    },

    async putFile(key, path, { contentType }) {
      await putPieces(client, bucket, key, createReadStream(path), { contentType });
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
      try {
        await client.abortMultipartUpload(bucket, key, uploadId);
      } catch (error) {
        if (!isS3Error(error, 'NoSuchUpload')) throw error;
      }
    },
  };
  return store;
}

const objectNotFound = () => new Problem('object_not_found', 'Check the key; the object may have been removed.');
