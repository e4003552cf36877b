/** SQLSTATE `lock_not_available` (the wait for a row or a key exceeded `lock_timeout`) and `deadlock_detected` (PostgreSQL, appendix A). */
const lockFailures: readonly unknown[] = ['55P03', '40P01'];

/** Whether a statement failed because another transaction holds what it needs. */
export const isLockFailure = (error: unknown): boolean =>
  lockFailures.includes((error as { readonly code?: unknown } | null)?.code);
