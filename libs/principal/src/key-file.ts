import { readFileSync, statSync } from 'node:fs';
import type { JWK } from 'jose';

const checkEveryMs = 1_000;

/**
 * The keys of a file (JWKS), in its order. A changed file is read again at the first call after a second, so a new or removed key needs no
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
    keys = (JSON.parse(readFileSync(file, 'utf8')) as { readonly keys: readonly JWK[] }).keys;
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
