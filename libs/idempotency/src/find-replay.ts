import type { Problem } from '@longwave/problems';

/**
 * Compares a request with the records that were stored under its key: the record whose answer is repeated, or undefined when the request is
 * new. Throws `conflict` of a record whose payload was another one: 409, where draft-ietf-httpapi-idempotency-key-header has 422.
 * @param digest `jcsDigest` of the request's payload
 */
export function findReplay<R extends { readonly digest: string }>(
  records: readonly R[],
  digest: string,
  conflict: (record: R) => Problem,
): R | undefined {
  const other = records.find((record) => record.digest !== digest);
  if (other) throw conflict(other);
  return records[0];
}
