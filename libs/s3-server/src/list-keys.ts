import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fromByteString, parseEntry, toByteString } from './key-path.ts';
import { isSystemError } from './s3-error.ts';

export interface ListQuery {
  readonly prefix: string;
  readonly delimiter: string;
  /** Only entries after this one, in the order of UTF-8 bytes. */
  readonly after: string;
  readonly limit: number;
}

/** A key, or a common prefix: the part of several keys up to the delimiter. */
export interface ListEntry {
  readonly kind: 'key' | 'prefix';
  readonly name: string;
}

/** One page of a bucket in key order. Reads names of folders only; folders outside the page are not opened. */
export async function listKeys(
  root: string,
  query: ListQuery,
): Promise<{ readonly entries: readonly ListEntry[]; readonly truncated: boolean }> {
  const prefix = toByteString(query.prefix);
  const delimiter = toByteString(query.delimiter);
  const after = toByteString(query.after);
  const entries: ListEntry[] = [];
  const commonPrefix = (key: string) => {
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    return at < 0 ? undefined : key.slice(0, at + delimiter.length);
  };
  // The page before a marker inside a common prefix has listed that prefix.
  const passed = after.startsWith(prefix) ? commonPrefix(after) : undefined;
  const cursor = { from: after === '' ? '' : passed === undefined ? `${after}\u0000` : afterAll(passed) };
  if (query.limit === 0) return { entries, truncated: false };
  for await (const key of walk(root, '', prefix, cursor)) {
    if (entries.length === query.limit) return { entries, truncated: true };
    const common = commonPrefix(key);
    entries.push({ kind: common === undefined ? 'key' : 'prefix', name: fromByteString(common ?? key) });
    if (common !== undefined) cursor.from = afterAll(common);
  }
  return { entries, truncated: false };
}

/** The smallest byte string that is greater than everything with this prefix. UTF-8 has no byte 0xff to carry over. */
const afterAll = (prefix: string) =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** Keys ≥ `cursor.from` (which the consumer may move on) that start with `prefix`, in order. `base`: this folder's key. */
async function* walk(
  folder: string,
  base: string,
  prefix: string,
  cursor: { readonly from: string },
): AsyncGenerator<string> {
  for (const { name, kind, part } of await readEntries(folder)) {
    const full = base + part;
    if (kind === 'object') {
      if (full >= cursor.from && full.startsWith(prefix)) yield full;
      continue;
    }
    const mayMatch = full.startsWith(prefix) || prefix.startsWith(full);
    const mayFollow = full >= cursor.from || cursor.from.startsWith(full);
    if (mayMatch && mayFollow) yield* walk(path.join(folder, name), full, prefix, cursor);
  }
}

async function readEntries(folder: string) {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  });
  return names
    .flatMap((name) => {
      const entry = parseEntry(name);
      return entry ? [{ name, ...entry }] : [];
    })
    .sort((a, b) => (a.part < b.part ? -1 : 1));
}
