import { readFileSync, statSync } from 'node:fs';
import type { JWK } from 'jose';

const lookEveryMs = 1_000;

/**
 * The public keys of a file (JWKS) by `kid`. A changed file is read again within a second of the next request: a key that is added or
 * taken out needs no restart. While it cannot be read the keys stay as they were. Throws when it cannot be read at first.
 */
export function openTokenKeys(
  file: string,
  options: { readonly now: () => number; readonly onError: (error: unknown) => void },
): (kid: string) => JWK | undefined {
  let keys = new Map<string, JWK>();
  let seen = '';
  let lookedMs = -Infinity;
  const read = () => {
    lookedMs = options.now();
    const { mtimeMs, ino, size } = statSync(file);
    const state = [mtimeMs, ino, size].join(' ');
    if (state === seen) return;
    const { keys: found } = JSON.parse(readFileSync(file, 'utf8')) as { readonly keys: readonly JWK[] };
    keys = new Map(found.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key]])));
    seen = state;
  };
  read();
  return (kid) => {
    if (options.now() - lookedMs >= lookEveryMs)
      try {
        read();
      } catch (error) {
        options.onError(error);
      }
    return keys.get(kid);
  };
}
