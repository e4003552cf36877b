import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** SHA-256 (hex) of a value's JCS form. */
export function jcsDigest(value: unknown): string {
  return createHash('sha256')
    .update(canonicalize(value) ?? 'null')
    .digest('hex');
}
