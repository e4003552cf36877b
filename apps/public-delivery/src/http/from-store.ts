import { Problem } from '@longwave/problems';

/** Awaits the object store. Rejects with the problem it names, else with `temporarily_unavailable`. */
export async function fromStore<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });
  }
}
