import { open, type FileHandle } from 'node:fs/promises';

/** A file that several readers share; each of them calls `leave` once. */
export interface SharedFile {
  readonly handle: FileHandle;
  leave(): Promise<void>;
}

/** Files kept open between their readers, the least recently used one closed beyond `maxFiles`. */
export interface OpenFiles extends AsyncDisposable {
  /** Undefined when there is no such file or it has another size. */
  open(file: string, sizeBytes: number): Promise<SharedFile | undefined>;
  /** Closes the file as soon as nobody reads it; the next `open` opens the file that is there then. */
  forget(file: string): void;
}

interface Entry {
  readonly opening: Promise<FileHandle | undefined>;
  readers: number;
  kept: boolean;
}

async function openOfSize(file: string, sizeBytes: number): Promise<FileHandle | undefined> {
  try {
    const handle = await open(file, 'r');
    if ((await handle.stat()).size === sizeBytes) return handle;
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return undefined;
}

export function createOpenFiles(maxFiles: number): OpenFiles {
  const entries = new Map<string, Entry>();

  /** Closes what nobody reads and nobody keeps. */
  async function release(entry: Entry): Promise<void> {
    if (entry.kept || entry.readers > 0) return;
    await entry.opening.then(
      (handle) => handle?.close(),
      () => undefined,
    );
  }

  function forget(file: string): void {
    const entry = entries.get(file);
    if (!entry) return;
    entries.delete(file);
    entry.kept = false;
    void release(entry);
  }

  function enter(file: string, sizeBytes: number): Entry {
    const entry = entries.get(file) ?? { opening: openOfSize(file, sizeBytes), readers: 0, kept: true };
    entries.delete(file);
    entries.set(file, entry);
    entry.readers++;
    if (entries.size > maxFiles) forget(entries.keys().next().value!);
    return entry;
  }

  return {
    open: async (file, sizeBytes) => {
      const entry = enter(file, sizeBytes);
      const leave = () => {
        entry.readers--;
        return release(entry);
      };
      const drop = () => {
        if (entries.get(file) === entry) forget(file);
        return leave();
      };
      try {
        const handle = await entry.opening;
        if (handle) return { handle, leave };
        await drop();
        return undefined;
      } catch (error) {
        await drop();
        throw error;
      }
    },
    forget,
    [Symbol.asyncDispose]: async () => {
      for (const file of [...entries.keys()]) {
        const entry = entries.get(file)!;
        entries.delete(file);
        entry.kept = false;
        await release(entry);
      }
    },
  };
}
