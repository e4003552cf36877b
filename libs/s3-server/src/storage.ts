import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { createDurableFolders, syncFolder, type DurableFolders } from './durable-folders.ts';
import { keyToSegments } from './key-path.ts';
import { listKeys, type ListEntry, type ListQuery } from './list-keys.ts';
import { openObjectFile, readBytes, writeObjectFile, type BodyClaims, type ObjectMeta } from './object-file.ts';
import { isSystemError, S3Error } from './s3-error.ts';

export type OpenObject = Awaited<ReturnType<typeof openObjectFile>>;

/** An object to be stored. */
export interface NewObject {
  readonly body: AsyncIterable<Buffer>;
  readonly headers: Readonly<Record<string, string>>;
  readonly claims?: BodyClaims;
  /** Default: the MD5 of the body. */
  readonly etag?: string;
}

interface StoredName {
  readonly bucket: string;
  readonly key: string;
}

type ListedEntry = ListEntry & { readonly meta?: ObjectMeta };

/**
 * Buckets and objects in one folder, which belongs to one process:
 * `<bucket>/objects/…` objects by key (key-path.ts), `<bucket>/uploads/…` multipart uploads, `.tmp/…` unfinished files.
 * A call that resolved is on the disk; one that was interrupted leaves the version before.
 */
export interface Storage {
  /** Makes the folder and removes unfinished files of an earlier process. */
  prepare(): Promise<void>;
  listBuckets(): Promise<readonly { readonly name: string; readonly createdAt: Date }[]>;
  /** @throws S3Error 409 when it exists, 400 for a name that S3 does not allow */
  createBucket(bucket: string): Promise<void>;
  /** The bucket's folder. @throws S3Error 404 `NoSuchBucket` */
  getBucketFolder(bucket: string): Promise<string>;
  put(bucket: string, key: string, object: NewObject): Promise<ObjectMeta>;
  /**
   * A copy with the headers, the ETag and the time of its source. It costs no room: a file is never changed once it is published,
   * so both names are of one file. With `headers` it is written anew.
   * @throws S3Error 404 `NoSuchKey`, 412 when the source has another ETag than `etag`
   */
  copy(
    source: StoredName,
    target: StoredName,
    options: {
      readonly etag: string | undefined;
      readonly headers: Readonly<Record<string, string>> | undefined;
    },
  ): Promise<ObjectMeta>;
  /** The caller closes the handle. @throws S3Error 404 `NoSuchKey` */
  open(bucket: string, key: string): Promise<OpenObject>;
  /** Nothing happens when there is none. */
  remove(bucket: string, key: string): Promise<void>;
  list(
    bucket: string,
    query: ListQuery,
  ): Promise<{ readonly entries: readonly ListedEntry[]; readonly truncated: boolean }>;
  /**
   * Writes an object file under a temporary name and publishes it as `target` in one step. A missing folder is made,
   * or (`createFolder: false`) is the file system's ENOENT.
   */
  writeFile(target: string, object: NewObject, options: { readonly createFolder: boolean }): Promise<ObjectMeta>;
  /** Removes a folder with everything in it, in one step. */
  removeFolder(folder: string): Promise<void>;
}

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export function createStorage(options: { readonly folder: string; readonly now: () => number }): Storage {
  const root = path.resolve(options.folder);
  const temporary = path.join(root, '.tmp');
  const folders: DurableFolders = createDurableFolders(root);
  const bucketFolder = (bucket: string) => {
    if (!bucketName.test(bucket)) throw new S3Error(400, 'InvalidBucketName');
    return path.join(root, bucket);
  };
  const objectFile = (folder: string, key: string) => path.join(folder, 'objects', ...keyToSegments(key));

  const storage: Storage = {
    async prepare() {
      await mkdir(root, { recursive: true });
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary);
      for (const { name } of await storage.listBuckets()) {
        const uploads = path.join(root, name, 'uploads');
        for (const upload of await readdir(uploads)) await folders.prune(path.join(uploads, upload), uploads);
      }
    },

    async listBuckets() {
      const names = (await readdir(root)).filter((name) => bucketName.test(name)).sort();
      return Promise.all(
        names.map(async (name) => ({ name, createdAt: (await stat(path.join(root, name))).birthtime })),
      );
    },

    async createBucket(bucket) {
      const folder = bucketFolder(bucket);
      const unfinished = path.join(temporary, randomUUID());
      await mkdir(path.join(unfinished, 'uploads'), { recursive: true });
      await mkdir(path.join(unfinished, 'objects'));
      await syncFolder(unfinished);
      try {
        await rename(unfinished, folder);
      } catch (error) {
        await rm(unfinished, { recursive: true });
        if (isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw new S3Error(409, 'BucketAlreadyOwnedByYou');
        throw error;
      }
      await syncFolder(root);
    },

    async getBucketFolder(bucket) {
      const folder = bucketFolder(bucket);
      try {
        await stat(folder);
      } catch (error) {
        if (isSystemError(error, 'ENOENT')) throw new S3Error(404, 'NoSuchBucket', 'There is no such bucket');
        throw error;
      }
      return folder;
    },

    async put(bucket, key, object) {
      const file = objectFile(await storage.getBucketFolder(bucket), key);
      return storage.writeFile(file, object, { createFolder: true });
    },

    async copy(source, target, { etag, headers }) {
      const from = objectFile(await storage.getBucketFolder(source.bucket), source.key);
      const to = objectFile(await storage.getBucketFolder(target.bucket), target.key);
      const file = path.join(temporary, randomUUID());
      try {
        await link(from, file).catch(orNoSuchKey);
        const { handle, meta } = await openObjectFile(file);
        await using _open = { [Symbol.asyncDispose]: () => handle.close() };
        if (etag !== undefined && etag !== meta.etag)
          throw new S3Error(412, 'PreconditionFailed', 'The source is another version');
        if (headers)
          return await storage.put(target.bucket, target.key, { body: readBytes(handle, 0, meta.sizeBytes), headers });
        await folders.publish(file, to, { create: true });
        return meta;
      } finally {
        // Also after `publish`: renaming a file to another link of itself leaves both names.
        await rm(file, { force: true });
      }
    },

    async open(bucket, key) {
      const file = objectFile(await storage.getBucketFolder(bucket), key);
      return openObjectFile(file).catch(orNoSuchKey);
    },

    async remove(bucket, key) {
      const folder = await storage.getBucketFolder(bucket);
      const file = objectFile(folder, key);
      try {
        await unlink(file);
        await syncFolder(path.dirname(file));
      } catch (error) {
        if (isSystemError(error, 'ENOENT')) return;
        throw error;
      }
      await folders.prune(path.dirname(file), path.join(folder, 'objects'));
    },

    async list(bucket, query) {
      const folder = await storage.getBucketFolder(bucket);
      const { entries, truncated } = await listKeys(path.join(folder, 'objects'), query);
      const listed: ListedEntry[] = [];
      for (const entry of entries) {
        if (entry.kind === 'prefix') listed.push(entry);
        else {
          const meta = await readMeta(objectFile(folder, entry.name));
          if (meta) listed.push({ ...entry, meta });
        }
      }
      return { entries: listed, truncated };
    },

    async writeFile(target, object, { createFolder }) {
      const file = path.join(temporary, randomUUID());
      try {
        const meta = await writeObjectFile(file, object.body, { ...object, modifiedAtMs: options.now() });
        await folders.publish(file, target, { create: createFolder });
        return meta;
      } catch (error) {
        await rm(file, { force: true });
        throw error;
      }
    },

    async removeFolder(folder) {
      const vanished = path.join(temporary, randomUUID());
      try {
        await rename(folder, vanished);
      } catch (error) {
        if (isSystemError(error, 'ENOENT')) return;
        throw error;
      }
      await syncFolder(path.dirname(folder));
      await rm(vanished, { recursive: true, force: true });
    },
  };
  return storage;
}

/** Throws `NoSuchKey` for a file that does not exist, else the error itself. */
function orNoSuchKey(error: unknown): never {
  throw isSystemError(error, 'ENOENT') ? new S3Error(404, 'NoSuchKey', 'There is no such object') : error;
}

/** Metadata of an object file, undefined when it vanished meanwhile. */
async function readMeta(file: string): Promise<ObjectMeta | undefined> {
  try {
    const { handle, meta } = await openObjectFile(file);
    await handle.close();
    return meta;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
