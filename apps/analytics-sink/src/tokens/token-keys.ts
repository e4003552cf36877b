import { readFileSync, statSync } from 'node:fs';
import type { JWK } from 'jose';

const checkEveryMs = 1_000;

/**
 * The public keys of a file (JWKS) by `kid`. A changed file is read again at the first look-up after a second, so a new or removed key needs
 * no restart. While the file cannot be read the last keys stay. Throws when the first read fails.
 */
export function openTokenKeys(
  file: string,
  options: { readonly now: () => number; readonly onError: (error: unknown) => void },
): (kid: string) => JWK | undefined {
  let keys = new Map<string, JWK>();
  let seen = '';
  let checkedMs = -Infinity;
  const read = () => {
    checkedMs = options.now();
    const { mtimeMs, ino, size } = statSync(file);
    const state = [mtimeMs, ino, size].join(' ');
    if (state === seen) return;
    const { keys: found } = JSON.parse(readFileSync(file, 'utf8')) as { readonly keys: readonly JWK[] };
    keys = new Map(found.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key]])));
    seen = state;
  };
  read();
  return (kid) => {
    if (options.now() - checkedMs >= checkEveryMs)
      try {
        read();
      } catch (error) {
        options.onError(error);
      }
    return keys.get(kid);
  };
}
