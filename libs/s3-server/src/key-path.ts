/**
 * The files of keys: a listing finds them in key order by names alone.
 *
 * A key is cut at its slashes. Each piece but the last is a folder `d<name>`, the last one a file `o<name>`; a name is
 * the piece with everything but `a-z 0-9 . _ -` percent-encoded, so that no file system folds two keys into one.
 * A piece of `chunkBytes` or more would exceed the length of a file name: its first `chunkBytes` bytes become a folder
 * `c<name>` and the rest goes on inside. Three kinds of names never meet: `a`, `a/b` and `a/` live beside each other.
 *
 * Keys are handled as byte strings (one UTF-16 unit per UTF-8 byte), whose order is S3's order of keys.
 */
const chunkBytes = 80;

type EntryKind = 'object' | 'folder' | 'chunk';

export interface KeyEntry {
  readonly kind: EntryKind;
  /** The piece of the key, as a byte string. */
  readonly part: string;
}

/** UTF-8 bytes of `text`, one character each. */
export const toByteString = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
export const fromByteString = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

/** Path segments of a key, the last one the object's file. */
export function keyToSegments(key: string): string[] {
  const pieces = toByteString(key).split('/');
  return pieces.flatMap((piece, index) => {
    const chunks: string[] = [];
    let rest = piece;
    for (; rest.length >= chunkBytes; rest = rest.slice(chunkBytes))
      chunks.push(`c${encodeName(rest.slice(0, chunkBytes))}`);
    return [...chunks, `${index === pieces.length - 1 ? 'o' : 'd'}${encodeName(rest)}`];
  });
}

/** The entry that a name of a folder listing stands for; undefined for a foreign name. */
export function parseEntry(name: string): KeyEntry | undefined {
  const part = decodeName(name.slice(1));
  if (part === undefined) return undefined;
  if (name.startsWith('o')) return { kind: 'object', part };
  if (name.startsWith('d')) return { kind: 'folder', part: `${part}/` };
  if (name.startsWith('c')) return { kind: 'chunk', part };
  return undefined;
}

function encodeName(bytes: string): string {
  return bytes.replace(/[^a-z0-9._-]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function decodeName(name: string): string | undefined {
  if (!/^(?:[a-z0-9._-]|%[0-9a-f]{2})*$/.test(name)) return undefined;
  return name.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
