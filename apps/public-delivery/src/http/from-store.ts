import { Problem } from '@longwave/problems';

/** What the object store says. Rejects with its own problem, or with `temporarily_unavailable` when it says nothing. */
export async function fromStore<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });
  }
}
