import type { FileFacts } from './plan-upload.ts';

/** What stays the same of a grant: addresses for the bytes are asked for when they are needed, since they live an hour. */
export interface KeptGrant {
  readonly file_url: string;
  /** Absent for a file that is sent with one PUT. */
  readonly multipart?: {
    readonly upload_key: string;
    readonly multipart_upload_id: string;
    /** Bytes. */
    readonly part_size: number;
  };
}

/** A file on disk that a browser can open again after a reload, where it has such handles (File System Access). */
export interface FileHandle {
  readonly getFile: () => Promise<File>;
  readonly queryPermission?: (wish: { readonly mode: 'read' }) => Promise<PermissionState>;
  readonly requestPermission?: (wish: { readonly mode: 'read' }) => Promise<PermissionState>;
}

/** An upload as it outlives the page. */
export interface StoredUpload extends FileFacts {
  /** `uploadIdOf` the file and the target. */
  readonly id: string;
  /** What the file is for: an episode. */
  readonly target: string;
  /** Where the upload is shown: a podcast. */
  readonly group: string;
  /** Whether the episode is to be published as soon as it is encoded. */
  readonly publish: boolean;
  /** Which grant this is, from 0: one that has ended is followed by another. */
  readonly round: number;
  readonly grant?: KeptGrant | undefined;
  /** The ETag of each part that the store has. */
  readonly etags: Readonly<Record<number, string>>;
  readonly handle?: FileHandle | undefined;
  /** Whether the store has the whole file. */
  readonly isSent: boolean;
}

/** The uploads of this browser. */
export interface UploadStore {
  readonly all: () => Promise<readonly StoredUpload[]>;
  readonly find: (id: string) => Promise<StoredUpload | undefined>;
  readonly save: (upload: StoredUpload) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
}

const uploads = 'uploads';

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB failed'));
  });

function open(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(uploads, { keyPath: 'id' });
  return settled(request);
}

/**
 * The uploads of one person in one account, in IndexedDB: files of another one are not even seen. Signing out clears it (`Clear-Site-Data`).
 * @param findOwner who it is; asked once it is known, and again after a failure
 */
export function openUploadStore(findOwner: () => Promise<string>): UploadStore {
  let opened: Promise<IDBDatabase> | undefined;
  async function ask<T>(mode: IDBTransactionMode, what: (all: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const owner = await findOwner();
    opened ??= open(`longwave-uploads ${owner}`);
    return settled(what((await opened).transaction(uploads, mode).objectStore(uploads)));
  }
  return {
    all: () => ask('readonly', (all) => all.getAll() as IDBRequest<StoredUpload[]>),
    find: (id) => ask('readonly', (all) => all.get(id) as IDBRequest<StoredUpload | undefined>),
    save: async (upload) => void (await ask('readwrite', (all) => all.put(upload))),
    remove: async (id) => void (await ask('readwrite', (all) => all.delete(id))),
  };
}
