import { Problem } from '@longwave/problems';

/** The first request with this key, or another write that it waits for, still runs (409): the client repeats its request in a second. */
export const inProgressProblem = (detail: string, cause: unknown): Problem =>
  new Problem('idempotency_in_progress', detail, { cause, retryAfterSeconds: 1 });
