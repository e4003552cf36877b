import { createHash, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findProcess, isAlive, type ProcessIdentity } from './process-identity.ts';

/** What a lock says; undefined where there is none. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

type Holder<N> = ProcessIdentity & Partial<N>;

function holderIn<N>(text: string | undefined): Holder<N> | undefined {
  if (text === undefined) return undefined;
  try {
    const holder = JSON.parse(text) as Holder<N>;
    return isAlive(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** The living process that holds a lock, with what it has noted; undefined: nobody does. */
export const findHolder = <N extends object>(file: string): Holder<N> | undefined => holderIn(textOf(file));

/** Makes a file that nobody sees before it is whole. Throws when it exists. */
function createWhole(file: string, text: string): void {
  const unfinished = `${file}.${randomUUID()}`;
  try {
    writeFileSync(unfinished, text, { flag: 'wx', mode: 0o600 });
    linkSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Waits without doing anything else. */
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/**
 * Removes the lock of a process that has died, if no other process is doing so. The removal of what the file says is a lock itself:
 * without it, a second process could remove the lock of the first one, which has removed the dead one's and made its own.
 */
function removeDead(file: string, dead: string): void {
  const removal = `${file}.${createHash('sha256').update(dead).digest('hex').slice(0, 16)}`;
  const underWay = new Error(`Another process removes ${file}.`);
  try {
    const release = lockFile(removal, () => underWay);
    try {
      if (textOf(file) === dead) rmSync(file);
    } finally {
      release();
    }
  } catch (error) {
    if (error !== underWay) throw error;
    pause(2);
  }
}

const maxTries = 100;

/**
 * Makes this process the only holder of a lock, a file that others can read. The lock of a process that has died is taken over.
 * @param refuse makes the error that is thrown while another process holds it
 * @param note kept in the lock, for whoever is refused
 * @returns the release
 */
export function lockFile<N extends object>(file: string, refuse: (holder: Holder<N>) => Error, note?: N): () => void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  for (let tries = 1; ; tries += 1) {
    try {
      createWhole(file, JSON.stringify({ ...findProcess(process.pid), ...note }));
      return () => rmSync(file, { force: true });
    } catch (error) {
      const found = textOf(file);
      const holder = holderIn<N>(found);
      if (holder) throw refuse(holder);
      if (tries === maxTries)
        throw new Error(`${file} cannot be taken over: another process is doing so.`, { cause: error });
      if (found !== undefined) removeDead(file, found);
    }
  }
}
