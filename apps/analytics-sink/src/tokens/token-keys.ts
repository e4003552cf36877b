import { readFileSync, statSync } from 'node:fs';
import type { JWK } from 'jose';

/**
 * The public keys of a file (JWKS) by `kid`. The file is read again, at most once a second, when a key is asked for that it did not
 * hold and it has changed: a new key needs no restart. Throws when the file cannot be read at first.
 */
export function openTokenKeys(file: string, now: () => number): (kid: string) => JWK | undefined {
  let keys = new Map<string, JWK>();
  let changedMs = 0;
  let lookedMs = 0;
  const read = () => {
    const { mtimeMs } = statSync(file);
    if (mtimeMs === changedMs) return;
    const { keys: found } = JSON.parse(readFileSync(file, 'utf8')) as { readonly keys: readonly JWK[] };
    keys = new Map(found.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key]])));
    changedMs = mtimeMs;
  };
  read();
  return (kid) => {
    const known = keys.get(kid);
    if (known || now() - lookedMs < 1_000) return known;
    lookedMs = now();
    read();
    return keys.get(kid);
  };
}
