import { mkdir, open, rename, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isSystemError } from './s3-error.ts';

/** Syncs the names inside a folder to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Folders below `root`. They come and go with the objects in them, and survive a power cut once an object is acknowledged. */
export interface DurableFolders {
  /**
   * Moves a finished file to its place; it survives a power cut when this resolves. Missing folders are made, or
   * (`create: false`) are the file system's ENOENT.
   */
  publish(file: string, target: string, options: { readonly create: boolean }): Promise<void>;
  /** Removes the folder and its parents up to `stop`, as far as they are empty. */
  prune(folder: string, stop: string): Promise<void>;
}

const maxKnown = 10_000;

export function createDurableFolders(root: string): DurableFolders {
  // Folders whose own name is known to be on the disk.
  const known = new Map<string, Promise<void>>();

  function ensure(folder: string): Promise<void> {
    if (folder === root) return Promise.resolve();
    const earlier = known.get(folder);
    if (earlier) return earlier;
    if (known.size >= maxKnown) known.clear();
    const made = make(folder);
    known.set(folder, made);
    made.catch(() => known.delete(folder));
    return made;
  }

  async function make(folder: string): Promise<void> {
    const parent = path.dirname(folder);
    await ensure(parent);
    await mkdir(folder).catch((error: unknown) => {
      if (!isSystemError(error, 'EEXIST')) throw error;
    });
    await syncFolder(parent);
  }

  /** Forgets a folder that was pruned, and its parents. */
  function forget(folder: string): void {
    for (let at = folder; at !== root && at !== path.dirname(at); at = path.dirname(at)) known.delete(at);
  }

  return {
    async publish(file, target, { create }) {
      const folder = path.dirname(target);
      for (let attempt = 1; ; attempt++) {
        try {
          if (create) await ensure(folder);
          await rename(file, target);
          break;
        } catch (error) {
          // A removal pruned the folder between the two steps.
          if (!create || !isSystemError(error, 'ENOENT') || attempt === 10) throw error;
          forget(folder);
        }
      }
      await syncFolder(folder).catch((error: unknown) => {
        // The folder was removed again meanwhile.
        if (!isSystemError(error, 'ENOENT')) throw error;
      });
    },

    async prune(folder, stop) {
      for (let at = folder; at !== stop; at = path.dirname(at)) {
        try {
          await rmdir(at);
        } catch (error) {
          if (isSystemError(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) return;
          throw error;
        }
        known.delete(at);
      }
    },
  };
}
