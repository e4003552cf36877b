import { databaseOutage } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';

/**
 * Reads a value by its key. While the database is away, it resolves with the value that the last read of this key gave, and rejects for
 * a key without one. Absent values are not remembered, so that wrong keys do not push out right ones.
 */
export type LastKnown<V> = (key: string, read: () => Promise<V>) => Promise<V>;

/** @param maxValues values that are remembered, the most recently used */
export function createLastKnown<V extends object | undefined>(maxValues: number): LastKnown<V> {
  const known = new LRUCache<string, NonNullable<V>>({ max: maxValues });
  return async (key, read) => {
    try {
      const value = await read();
      if (value !== undefined) known.set(key, value);
      return value;
    } catch (error) {
      const last = databaseOutage(error) ? known.get(key) : undefined;
      if (last === undefined) throw error;
      return last;
    }
  };
}
