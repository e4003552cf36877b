import { databaseOutage } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import { within } from './within.ts';

/**
 * Reads a value by its key. While the database is away, it resolves with the value that the last read of this key gave, and rejects for
 * a key without one, as soon as `read` does. Absent values are not remembered, so that wrong keys do not push out right ones.
 */
export type LastKnown<V> = (key: string, read: () => Promise<V>) => Promise<V>;

/** A database that has not answered for so long is taken as away, until a read succeeds: a broken network says nothing for longer. */
const patienceMs = 1_000;
/** While the database is away, one read in so long a time asks it again. */
const askAgainMs = 1_000;

/** @param maxValues values that are remembered, the most recently used */
export function createLastKnown<V extends object | undefined>(maxValues: number): LastKnown<V> {
  const known = new LRUCache<string, NonNullable<V>>({ max: maxValues });
  /** When a read last began while the database was away; undefined: it is not. */
  let lastAskedMs: number | undefined;

  async function ask(key: string, read: () => Promise<V>): Promise<V> {
    try {
      const value = await read();
      if (value !== undefined) known.set(key, value);
      lastAskedMs = undefined;
      return value;
    } catch (error) {
      const last = databaseOutage(error) ? known.get(key) : undefined;
      if (last === undefined) throw error;
      return last;
    }
  }

  return async (key, read) => {
    const last = known.get(key);
    if (last === undefined) return ask(key, read);
    const startedMs = performance.now();
    if (lastAskedMs !== undefined) {
      if (startedMs - lastAskedMs < askAgainMs) return last;
      lastAskedMs = startedMs;
    }
    const asking = ask(key, read);
    const answered = await within(patienceMs, asking);
    if (answered) return answered.result;
    lastAskedMs ??= startedMs;
    return last;
  };
}
