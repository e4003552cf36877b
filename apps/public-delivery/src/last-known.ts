import { databaseOutage } from '@longwave/postgres';
import { createRecentlyUsed } from './recently-used.ts';

/**
 * Reads a value by its key; while the database is away, what was read of it last. Rejects when that is not known either. What was not
 * there is not remembered, so that wrong keys do not push out right ones.
 */
export type LastKnown<V> = (key: string, read: () => Promise<V>) => Promise<V>;

/** @param valuesMax so many of the values that were used last are remembered */
export function createLastKnown<V>(valuesMax: number): LastKnown<V> {
  const known = createRecentlyUsed<{ readonly value: V }>(valuesMax);
  return async (key, read) => {
    try {
      const value = await read();
      if (value !== undefined) known.keep(key, { value }, 1);
      return value;
    } catch (error) {
      const last = databaseOutage(error) && known.find(key);
      if (!last) throw error;
      return last.value;
    }
  };
}
