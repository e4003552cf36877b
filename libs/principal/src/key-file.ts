import { readFileSync, statSync } from 'node:fs';
import type { JWK } from 'jose';

const checkEveryMs = 1_000;

/**
 * The keys of a file (a JWKS, or one JWK), in its order. A changed file is read again at the first call after a second, so a new or removed key needs no
 * restart; an unchanged one gives the same array. While the file cannot be read the last keys stay. Throws when the first read fails.
 */
export function openKeyFile(
  file: string,
  options: { readonly now: () => number; readonly onError: (error: unknown) => void },
): () => readonly JWK[] {
  let keys: readonly JWK[] = [];
  let seen = '';
  let checkedMs = -Infinity;
  const read = () => {
    checkedMs = options.now();
    const { mtimeMs, ino, size } = statSync(file);
    const state = [mtimeMs, ino, size].join(' ');
    if (state === seen) return;
    const read = JSON.parse(readFileSync(file, 'utf8')) as { readonly keys: readonly JWK[] } | JWK;
    keys = 'keys' in read ? read.keys : [read];
    seen = state;
  };
  read();
  return () => {
    if (options.now() - checkedMs >= checkEveryMs)
      try {
        read();
      } catch (error) {
        options.onError(error);
      }
    return keys;
  };
}

/** The key of a file that signs: its only one, or the first. Throws for a file without keys; see `openKeyFile`. */
export function openSigningKey(...[file, options]: Parameters<typeof openKeyFile>): () => JWK {
  const keys = openKeyFile(file, options);
  const newest = () => {
    const [key] = keys();
    if (!key) throw new Error(`${file} holds no key`);
    return key;
  };
  newest();
  return newest;
}

/** The public parts of private keys (RFC 8037), as verifiers keep them. The same list as long as the keys are the same. */
export function publicPartsOf(keys: () => readonly JWK[]): () => readonly JWK[] {
  let of: readonly JWK[] | undefined;
  let parts: readonly JWK[] = [];
  return () => {
    const found = keys();
    if (found === of) return parts;
    of = found;
    parts = found.map(({ d: _private, ...part }) => part);
    return parts;
  };
}
