import { inBatches } from '@longwave/postgres';

/** Chunks that are written together, at most; each is of one part of a topic. */
const maxChunks = 4;
/** From one transaction to the next, at least: under load each takes more, and nobody waits for a number by the millisecond. */
const everyMs = 100;

/**
 * Writes chunks of messages in natural batches, one transaction at a time: while one is under way the chunks of other parts of the topic
 * collect. Parts that write side by side wait for each other's rows (hours, servings) and pay for every statement themselves.
 * When a batch fails, each of its chunks is tried alone, so that it fails by its own fault only.
 */
export function joinChunks<T>(write: (items: readonly T[]) => Promise<void>): (chunk: readonly T[]) => Promise<void> {
  const attempt = async (items: readonly T[]) => {
    try {
      await write(items);
      return undefined;
    } catch (error) {
      return { error };
    }
  };
  const failureOf = inBatches(
    async (chunks: readonly (readonly T[])[]) => {
      const failure = await attempt(chunks.flat());
      if (failure === undefined || chunks.length === 1) return chunks.map(() => failure);
      const failures: (typeof failure | undefined)[] = [];
      for (const chunk of chunks) failures.push(await attempt(chunk));
      return failures;
    },
    { maxItems: maxChunks, patienceMs: 60_000, everyMs },
  );
  return async (chunk) => {
    const failure = await failureOf(chunk);
    if (failure !== undefined) throw failure.error;
  };
}
