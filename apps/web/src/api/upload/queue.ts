import type { Grants } from './grants.ts';
import { createPace, secondsLeft } from './pace.ts';
import { planParts, storedBytes, uploadIdOf, type FileFacts } from './plan-upload.ts';
import { FileChanged, sendFile } from './send-file.ts';
import { untilItIsBack, whileSomebodyWaits, withTries, type Conditions } from './tries.ts';
import type { FileHandle, StoredUpload, UploadStore } from './upload-state.ts';

/** How an upload is. `elsewhere`: another tab sends it; `choose_again`: the browser lost the file, its parts are kept. */
type UploadPhase = 'waiting' | 'sending' | 'retrying' | 'offline' | 'elsewhere' | 'choose_again' | 'sent' | 'failed';

/** An upload as pages show it. */
export interface Upload {
  readonly id: string;
  readonly target: string;
  readonly group: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly publish: boolean;
  readonly phase: UploadPhase;
  /** Bytes that have gone. */
  readonly sent: number;
  readonly bytesPerSecond?: number | undefined;
  readonly secondsLeft?: number | undefined;
  /** Where the file is, from the grant on. */
  readonly fileUrl?: string | undefined;
  /** What was thrown: of a failed one, or of one that is tried again until it has stored something. */
  readonly error?: unknown;
  /** Whether the browser can open the file again when it is asked by a click. */
  readonly canReopen: boolean;
}

/** What an upload is for. */
export interface UploadPurpose {
  readonly target: string;
  readonly group: string;
}

export interface QueueParts {
  readonly store: UploadStore;
  readonly grants: Grants;
  readonly conditions: Conditions;
  readonly locks: Pick<LockManager, 'request'>;
  /** Milliseconds. */
  readonly now: () => number;
}

const shownEveryMs = 200;

const isSameFile = (a: FileFacts, b: FileFacts) =>
  a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;

function shown(stored: StoredUpload, phase: UploadPhase): Upload {
  const { id, target, group, name, size, publish, grant, etags, handle, isSent } = stored;
  const parts = grant?.multipart ? planParts(size, grant.multipart.part_size) : [];
  const sent = isSent ? size : storedBytes(parts, etags);
  const base = { id, target, group, name, size, publish, sent, canReopen: handle !== undefined };
  return { ...base, phase: isSent ? 'sent' : phase, fileUrl: grant?.file_url };
}

/** Of an upload that does not move. */
const later = { bytesPerSecond: undefined, secondsLeft: undefined };

/** The file behind a handle; undefined when it is another one by now, or may not be read. */
async function openAgain(stored: StoredUpload, ask: 'queryPermission' | 'requestPermission') {
  try {
    if ((await stored.handle?.[ask]?.({ mode: 'read' })) !== 'granted') return undefined;
    const file = await stored.handle?.getFile();
    return file && isSameFile(file, stored) ? file : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The uploads of this browser, as an external store of React. One file goes after the other, in four parts at once; the list outlives a reload, and one
 * tab alone sends a file.
 */
export function createUploadQueue({ store, grants, conditions, locks, now }: QueueParts) {
  let uploads: readonly Upload[] = [];
  const listeners = new Set<() => void>();
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  /** Files that this page has, by the upload's id. */
  const files = new Map<string, File>();
  let turn: Promise<unknown> = Promise.resolve();

  const publishList = (next: readonly Upload[]) => {
    uploads = next;
    for (const listener of listeners) listener();
  };
  const find = (id: string) => uploads.find((each) => each.id === id);
  const put = (upload: Upload) =>
    publishList(
      find(upload.id) ? uploads.map((each) => (each.id === upload.id ? upload : each)) : [...uploads, upload],
    );
  const change = (id: string, changes: Partial<Upload>) =>
    publishList(uploads.map((each) => (each.id === id ? { ...each, ...changes } : each)));
  const drop = (id: string) => publishList(uploads.filter((each) => each.id !== id));

  /** Conditions that say on the list what an upload waits for. */
  const watched = (id: string, forget: () => void): Conditions => ({
    isOnline: conditions.isOnline,
    whenOnline: async (signal) => {
      if (conditions.isOnline()) return;
      change(id, { phase: 'offline', ...later });
      await conditions.whenOnline(signal);
      forget();
      change(id, { phase: 'sending', error: undefined });
    },
    wait: async (ms, signal, error) => {
      change(id, { phase: 'retrying', error, ...later });
      await conditions.wait(ms, signal, error);
      forget();
    },
  });

  const progressOf = (id: string, size: number) => {
    const pace = createPace();
    let shownAt = 0;
    const onProgress = (sent: number) => {
      const at = now();
      pace.note(at, sent);
      if (at - shownAt < shownEveryMs && find(id)?.phase === 'sending') return;
      shownAt = at;
      const bytesPerSecond = pace.perSecond();
      change(id, { phase: 'sending', sent, bytesPerSecond, secondsLeft: secondsLeft(size - sent, bytesPerSecond) });
    };
    return { onProgress, forget: pace.forget };
  };

  /** Sends what is stored now: another tab may have been further. */
  async function sendHere(id: string, file: File, signal: AbortSignal): Promise<void> {
    const stored = await store.find(id);
    if (!stored) return drop(id);
    if (stored.isSent) return put(shown(stored, 'sent'));
    put(shown(stored, 'sending'));
    const { onProgress, forget } = progressOf(id, stored.size);
    // What a person chose meanwhile is kept.
    const save = (upload: StoredUpload) => {
      change(id, { error: undefined });
      return store.save({ ...upload, publish: find(id)?.publish ?? upload.publish });
    };
    const ways = { grants, conditions: watched(id, forget), patience: untilItIsBack };
    const sent = await sendFile(file, stored, { ...ways, save, onProgress, signal });
    put({ ...shown(sent, 'sent'), publish: find(id)?.publish ?? sent.publish });
  }

  /** Calls `work` in the one tab that may send a file; waits while that is another one. */
  async function alone(id: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const name = `longwave-upload:${id}`;
    const isHere = await locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await work();
      return lock !== null;
    });
    if (isHere) return;
    change(id, { phase: 'elsewhere' });
    await locks.request(name, { signal }, work);
  }

  async function run(id: string, file: File, signal: AbortSignal): Promise<void> {
    try {
      await alone(id, signal, () => {
        const mine = turn.then(() => (signal.aborted ? undefined : sendHere(id, file, signal)));
        turn = mine.catch(() => undefined);
        return mine;
      });
    } catch (error) {
      if (error instanceof FileChanged)
        change(id, { phase: 'choose_again', canReopen: false, error: undefined, ...later });
      else if (!signal.aborted) change(id, { phase: 'failed', error, ...later });
    } finally {
      running.delete(id);
    }
  }

  function start(id: string, file: File): void {
    files.set(id, file);
    if (running.has(id)) return;
    const stop = new AbortController();
    running.set(id, { stop, ended: run(id, file, stop.signal) });
  }

  async function remove(id: string): Promise<StoredUpload | undefined> {
    const { stop, ended } = running.get(id) ?? {};
    stop?.abort(new DOMException('The upload was stopped', 'AbortError'));
    drop(id);
    files.delete(id);
    await ended;
    const last = await store.find(id);
    await store.remove(id);
    return last;
  }

  async function stopAndEnd(id: string): Promise<void> {
    const fileUrl = (await remove(id))?.grant?.file_url;
    if (fileUrl === undefined) return;
    const trying = { signal: new AbortController().signal, patience: whileSomebodyWaits };
    // What is used by now stays; a grant that could not be ended ends by itself.
    await withTries(() => grants.abort(fileUrl), conditions, trying).catch(() => undefined);
  }

  return {
    current: () => uploads,
    subscribe: (onChange: () => void) => {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
    /** Whether leaving the page would end something. */
    isBusy: () => uploads.some(({ phase }) => ['waiting', 'sending', 'retrying', 'offline'].includes(phase)),
    /** An upload of a group for which a file was chosen before, and of which the browser has no file now. */
    findUnfinished: (file: FileFacts, group: string) =>
      uploads.find(
        (each) =>
          each.group === group && each.name === file.name && each.size === file.size && each.phase === 'choose_again',
      ),
    /** Sends a file for a target, or goes on where that stopped. Answers the upload's id. */
    add: async (file: File, { target, group }: UploadPurpose, handle?: FileHandle): Promise<string> => {
      const id = await uploadIdOf(file, target);
      const { name, size, lastModified } = file;
      const before = await store.find(id);
      const fresh = { id, target, group, name, size, lastModified, publish: false, round: 0, etags: {}, isSent: false };
      const stored = { ...(before ?? fresh), ...(handle && { handle }) };
      await store.save(stored);
      if (!running.has(id)) put(shown(stored, 'waiting'));
      start(id, file);
      return id;
    },
    /** Goes on with a file that was chosen again; false when it is another one. */
    goOn: async (id: string, file: File): Promise<boolean> => {
      const stored = await store.find(id);
      if (!stored || !isSameFile(file, stored)) return false;
      change(id, { phase: 'waiting' });
      start(id, file);
      return true;
    },
    /** Opens the file of an upload again, after a click; false when the browser cannot, and the person has to choose it. */
    reopen: async (id: string): Promise<boolean> => {
      const stored = await store.find(id);
      const file = stored && (await openAgain(stored, 'requestPermission'));
      if (!file) change(id, { canReopen: false });
      else start(id, file);
      return file !== undefined;
    },
    /** Tries again what has failed. */
    retry: (id: string): void => {
      const file = files.get(id);
      change(id, { phase: file ? 'waiting' : 'choose_again', error: undefined });
      if (file) start(id, file);
    },
    /** Reads the list of former pages, and goes on where the browser may open the file by itself. Called once. */
    restore: async (): Promise<void> => {
      for (const stored of await store.all()) {
        if (find(stored.id)) continue;
        put(shown(stored, 'choose_again'));
        const file = stored.isSent ? undefined : await openAgain(stored, 'queryPermission');
        if (file) start(stored.id, file);
      }
    },
    /** Notes whether the episode is to be published as soon as it is encoded. */
    setPublish: async (id: string, publish: boolean): Promise<void> => {
      change(id, { publish });
      const stored = await store.find(id);
      // One that has left the list is not kept anew.
      if (stored && find(id)) await store.save({ ...stored, publish });
    },
    /** Forgets an upload; what it has sent stays where it is. */
    remove: async (id: string): Promise<void> => void (await remove(id)),
    /** Stops an upload, forgets it, and has what was sent of it removed, unless something uses it. */
    stop: stopAndEnd,
  };
}
