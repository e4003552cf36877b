import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ObjectStore } from './port.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

const keyOf = (folder: string, digest: string) => `${folder}/${digest}.ndjson.gz`;

/**
 * Stores lines of JSON as one gzipped object under a folder of keys. Answers the SHA-256 (hex) of the lines, by which they are found
 * again: equal lines are one object, and other lines never replace it.
 */
async function putLines(store: ObjectStore, folder: string, lines: readonly string[]): Promise<string> {
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const digest = createHash('sha256').update(text).digest('hex');
  await store.put(keyOf(folder, digest), await compress(text), { contentType: 'application/gzip' });
  return digest;
}

/** The lines that were stored under this digest. Rejects with `object_not_found` when there are none, with an error when they changed. */
export async function getLines(store: ObjectStore, folder: string, digest: string): Promise<readonly string[]> {
  const text = await decompress(await buffer(await store.get(keyOf(folder, digest))));
  if (createHash('sha256').update(text).digest('hex') !== digest)
    throw new Error(`${keyOf(folder, digest)} was changed`);
  return text.toString('utf8').split('\n').slice(0, -1);
}

/** Rows of one UTC day that are old enough for the archive, each as a line of JSON. */
export interface OldRows {
  readonly day: string;
  readonly rows: readonly { readonly id: string; readonly line: string }[];
}

/**
 * Moves rows of a table into objects below `root/{day}`, at most `maxRows`; answers how many. `remove` is called only after the object
 * with its rows is stored; a process that is killed between the two stores the same object again.
 * @param table.read the oldest day's rows, at most so many, always in the same order; undefined when there are none
 * @param table.remove takes these rows, which the object of this digest holds, out of the table
 */
export async function moveLines(
  store: ObjectStore,
  root: string,
  { maxRows, maxLines }: { readonly maxRows: number; readonly maxLines: number },
  table: {
    readonly read: (maxRows: number) => Promise<OldRows | undefined>;
    readonly remove: (ids: readonly string[], digest: string) => Promise<void>;
  },
): Promise<number> {
  let moved = 0;
  while (moved < maxRows) {
    const found = await table.read(Math.min(maxLines, maxRows - moved));
    if (!found) break;
    const lines = found.rows.map(({ line }) => line);
    const digest = await putLines(store, `${root}/${found.day}`, lines);
    await table.remove(
      found.rows.map(({ id }) => id),
      digest,
    );
    moved += found.rows.length;
  }
  return moved;
}
