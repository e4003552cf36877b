/** An Idempotency-Key: the name that a client gives a write, so that a repetition is not carried out again. */
export const idempotencyKeyPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
