import { createHash, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { openObjectFile, readBytes, type ObjectMeta } from './object-file.ts';
import { isSystemError, S3Error } from './s3-error.ts';
import type { NewObject, OpenObject, Storage } from './storage.ts';

interface Upload {
  readonly uploadId: string;
  readonly key: string;
  readonly createdAtMs: number;
}

interface Part {
  readonly partNumber: number;
  readonly meta: ObjectMeta;
}

/** A part in the list of a completion. */
interface NamedPart {
  readonly partNumber: number;
  readonly etag: string;
}

/** Multipart uploads: `<bucket>/uploads/<id>/upload` with the headers and the key, `part-00001` … beside it. */
export interface Uploads {
  create(bucket: string, key: string, headers: Readonly<Record<string, string>>): Promise<string>;
  putPart(bucket: string, key: string, uploadId: string, partNumber: number, part: NewObject): Promise<ObjectMeta>;
  /** In order of the part number. */
  listParts(bucket: string, key: string, uploadId: string): Promise<readonly Part[]>;
  /**
   * Joins the parts into the object and ends the upload.
   * @throws S3Error 400 `InvalidPartOrder`, `InvalidPart`, `EntityTooSmall`; 404 `NoSuchUpload`
   */
  complete(bucket: string, key: string, uploadId: string, parts: readonly NamedPart[]): Promise<ObjectMeta>;
  abort(bucket: string, key: string, uploadId: string): Promise<void>;
  /** Uploads that are neither complete nor aborted, by key and id. */
  list(bucket: string, prefix: string): Promise<readonly Upload[]>;
}

const maxPartNumber = 10_000;
const minPartSizeBytes = 5 * 1024 * 1024;
const keyHeader = 'longwave-upload-key';

const noSuchUpload = () => new S3Error(404, 'NoSuchUpload', 'There is no such upload for this key');
const partFile = (folder: string, partNumber: number) =>
  path.join(folder, `part-${String(partNumber).padStart(5, '0')}`);

export function createUploads(storage: Storage): Uploads {
  const uploadsFolder = async (bucket: string) => path.join(await storage.getBucketFolder(bucket), 'uploads');

  async function readUpload(folder: string) {
    const { handle, meta } = await openOr(path.join(folder, 'upload'), noSuchUpload);
    await handle.close();
    const { [keyHeader]: encodedKey = '', ...headers } = meta.headers;
    return { key: decodeURIComponent(encodedKey), headers, createdAtMs: meta.modifiedAtMs };
  }

  async function getUpload(bucket: string, key: string, uploadId: string) {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uploadId)) throw noSuchUpload();
    const folder = path.join(await uploadsFolder(bucket), uploadId);
    const upload = await readUpload(folder);
    if (upload.key !== key) throw noSuchUpload();
    return { folder, headers: upload.headers };
  }

  return {
    async create(bucket, key, headers) {
      const uploadId = randomUUID();
      await storage.writeFile(
        path.join(await uploadsFolder(bucket), uploadId, 'upload'),
        { body: noBytes(), headers: { ...headers, [keyHeader]: encodeURIComponent(key) } },
        { createFolder: true },
      );
      return uploadId;
    },

    async putPart(bucket, key, uploadId, partNumber, part) {
      if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > maxPartNumber)
        throw new S3Error(400, 'InvalidArgument', `The part number must be 1 to ${maxPartNumber}`);
      const { folder } = await getUpload(bucket, key, uploadId);
      try {
        return await storage.writeFile(partFile(folder, partNumber), part, { createFolder: false });
      } catch (error) {
        throw isSystemError(error, 'ENOENT') ? noSuchUpload() : error;
      }
    },

    async listParts(bucket, key, uploadId) {
      const { folder } = await getUpload(bucket, key, uploadId);
      const names = (await readdir(folder)).filter((name) => name.startsWith('part-')).sort();
      const parts: Part[] = [];
      for (const name of names) {
        const { handle, meta } = await openOr(path.join(folder, name), noSuchUpload);
        await handle.close();
        parts.push({ partNumber: Number(name.slice('part-'.length)), meta });
      }
      return parts;
    },

    async complete(bucket, key, uploadId, parts) {
      const { folder, headers } = await getUpload(bucket, key, uploadId);
      if (parts.some((part, index) => part.partNumber <= (parts[index - 1]?.partNumber ?? 0)))
        throw new S3Error(400, 'InvalidPartOrder', 'The parts must be in ascending order');
      const digests = createHash('md5');
      for (const [index, part] of parts.entries()) {
        const { handle, meta } = await openPart(folder, part);
        await handle.close();
        if (meta.sizeBytes < minPartSizeBytes && index < parts.length - 1)
          throw new S3Error(400, 'EntityTooSmall', 'Every part but the last must have at least 5 MiB');
        digests.update(Buffer.from(meta.etag, 'hex'));
      }
      const etag = `${digests.digest('hex')}-${parts.length}`;
      const meta = await storage.put(bucket, key, { body: joinParts(folder, parts), headers, etag });
      await storage.removeFolder(folder);
      return meta;
    },

    async abort(bucket, key, uploadId) {
      const { folder } = await getUpload(bucket, key, uploadId);
      await storage.removeFolder(folder);
    },

    async list(bucket, prefix) {
      const root = await uploadsFolder(bucket);
      const uploads: Upload[] = [];
      for (const uploadId of await readdir(root)) {
        const upload = await readUpload(path.join(root, uploadId)).catch((error: unknown) => {
          if (error instanceof S3Error) return undefined;
          throw error;
        });
        if (upload?.key.startsWith(prefix))
          uploads.push({ uploadId, key: upload.key, createdAtMs: upload.createdAtMs });
      }
      return uploads.sort(
        (a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || (a.uploadId < b.uploadId ? -1 : 1),
      );
    },
  };
}

async function openOr(file: string, problem: () => S3Error): Promise<OpenObject> {
  try {
    return await openObjectFile(file);
  } catch (error) {
    throw isSystemError(error, 'ENOENT') ? problem() : error;
  }
}

/** The part, if its ETag is still that of the list. */
async function openPart(folder: string, part: NamedPart): Promise<OpenObject> {
  const invalid = () => new S3Error(400, 'InvalidPart', `Part ${part.partNumber} was not received or has another ETag`);
  const opened = await openOr(partFile(folder, part.partNumber), invalid);
  if (opened.meta.etag === part.etag) return opened;
  await opened.handle.close();
  throw invalid();
}

async function* joinParts(folder: string, parts: readonly NamedPart[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    const { handle, meta } = await openPart(folder, part);
    try {
      yield* readBytes(handle, 0, meta.sizeBytes);
    } finally {
      await handle.close();
    }
  }
}

async function* noBytes(): AsyncGenerator<Buffer> {}
