import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findProcess, isAlive, type ProcessIdentity } from './process-identity.ts';
import { readJson } from './read-json.ts';

/** The living process that holds a lock, with what it has noted; undefined: nobody does. */
export function findHolder<N extends object>(file: string): (ProcessIdentity & Partial<N>) | undefined {
  const holder = readJson<ProcessIdentity & Partial<N>>(file);
  return holder && isAlive(holder) ? holder : undefined;
}

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

/**
 * Makes this process the only holder of a lock, a file that others can read. The lock of a process that has died is taken over.
 * @param refuse makes the error that is thrown while another process holds it
 * @param note kept in the lock, for whoever is refused
 * @returns the release
 */
export function lockFile<N extends object>(
  file: string,
  refuse: (holder: ProcessIdentity & Partial<N>) => Error,
  note?: N,
): () => void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  for (let tries = 0; ; tries += 1) {
    try {
      createWhole(file, JSON.stringify({ ...findProcess(process.pid), ...note }));
      return () => rmSync(file, { force: true });
    } catch (error) {
      const holder = findHolder<N>(file);
      if (holder) throw refuse(holder);
      if (tries > 5) throw error;
      rmSync(file, { force: true });
    }
  }
}
