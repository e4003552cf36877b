import { createReadStream, existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import pMap from 'p-map';
import { sizeOf, writeDigested, writeLines } from './digested-file.ts';
import { objectFile, objectLine, objectsFolder, objectsName, type BackupFile, type ObjectLine } from './manifest.ts';

const concurrency = 4;

/**
 * The list of every object that an installation ever copied into a backup, so that the next backup, and one that was interrupted, copies
 * none twice. It lies in the data folder: whoever can write into the folder of backups must not say what the next backup holds.
 */
export const copiedFile = (dataFolder: string): string => path.join(dataFolder, 'copied-objects.jsonl');

const versionOf = ({ key, etag, size_bytes: size }: Pick<ObjectLine, 'key' | 'etag' | 'size_bytes'>) =>
  JSON.stringify([key, etag, size]);

/** The objects of a list, by key, ETag and size. A line that was cut off by a crash is left out. */
async function readCopied(file: string): Promise<Map<string, ObjectLine>> {
  const known = new Map<string, ObjectLine>();
  if (!existsSync(file)) return known;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    let line;
    try {
      line = objectLine.parse(JSON.parse(text));
    } catch {
      continue;
    }
    known.set(versionOf(line), line);
  }
  return known;
}

/** The objects of a backup, and how many of them were copied. */
export interface CopiedObjects {
  readonly file: BackupFile;
  readonly count: number;
  readonly sizeBytes: number;
  /** Of them, those that the folder did not have. */
  readonly copied: number;
}

/**
 * Copies every object that a folder of backups has not yet, and lists all of them in a backup. Bytes lie under their SHA-256, so equal
 * objects, and those of earlier backups, take room once. An object that is removed meanwhile is left out.
 * @param places.copied file with the list of objects that were copied
 * @param belongs false: an object is left out
 */
export async function copyObjects(
  store: Pick<ObjectStore, 'list' | 'get' | 'find'>,
  { folder, backup, copied: list }: { readonly folder: string; readonly backup: string; readonly copied: string },
  belongs: (key: string) => boolean,
  onCopied: (count: number, sizeBytes: number) => void,
): Promise<CopiedObjects> {
  const known = await readCopied(list);
  // A crash may have cut the last line off; the next one begins on a line of its own.
  await appendFile(list, '\n', { mode: 0o600 });
  const lines: ObjectLine[] = [];
  let copied = 0;
  let copiedBytes = 0;

  async function copy(key: string, etag: string): Promise<ObjectLine | undefined> {
    const info = await store.find(key);
    if (!info) return undefined;
    const written = await writeDigested(await store.get(key), {
      folder: objectsFolder(folder),
      nameOf: (digest) => objectFile(folder, digest),
    });
    const line = { key, etag, content_type: info.contentType, ...written };
    // Another folder of backups may have it already.
    if (known.get(versionOf(line))?.sha256 !== line.sha256) await appendFile(list, `${JSON.stringify(line)}\n`);
    copied += 1;
    copiedBytes += written.size_bytes;
    onCopied(copied, copiedBytes);
    return line;
  }

  await pMap(
    store.list(''),
    async ({ key, etag, sizeBytes }) => {
      if (!belongs(key)) return;
      const found = known.get(versionOf({ key, etag, size_bytes: sizeBytes }));
      const isThere = found && (await sizeOf(objectFile(folder, found.sha256))) === found.size_bytes;
      try {
        const line = isThere ? found : await copy(key, etag);
        if (line) lines.push(line);
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'object_not_found')) throw error;
      }
    },
    { concurrency },
  );
  lines.sort((a, b) => (a.key < b.key ? -1 : 1));
  async function* texts() {
    for (const line of lines) yield JSON.stringify(line);
  }
  const { lines: count, ...written } = await writeLines(path.join(backup, objectsName), texts());
  const sizeBytes = lines.reduce((sum, { size_bytes: size }) => sum + size, 0);
  return { file: { path: objectsName, ...written }, count, sizeBytes, copied };
}
