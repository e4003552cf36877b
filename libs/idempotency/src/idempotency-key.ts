import { Problem } from '@longwave/problems';

/**
 * The form of an idempotency key: the name that a client gives a write, so that a repetition is not carried out again. The value of the
 * `Idempotency-Key` header of draft-ietf-httpapi-idempotency-key-header, without the quotes that the draft puts around it.
 */
export const idempotencyKeyPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The key of a write that needs one. Throws `idempotency_key_required`, with `missing` as its sentence, or `idempotency_key_invalid`. */
export function requireIdempotencyKey(key: string | undefined, missing: string): string {
  if (!key) throw new Problem('idempotency_key_required', missing);
  if (!idempotencyKeyPattern.test(key))
    throw new Problem(
      'idempotency_key_invalid',
      'Use 1 to 128 characters: letters, digits, ".", "_", ":", "-"; a letter or digit first.',
    );
  return key;
}
