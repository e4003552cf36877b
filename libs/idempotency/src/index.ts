export { idempotencyKeyPattern, requireIdempotencyKey } from './idempotency-key.ts';
export { inProgressProblem } from './in-progress.ts';
export { jcsDigest } from './jcs-digest.ts';
export { findReplay } from './find-replay.ts';
