import type { Pool } from '@longwave/postgres';
import { createRecentlyUsed } from '../recently-used.ts';
import { findArrangement, shortIdOf, type StoredArrangement } from './play-table.ts';

/** Arrangements, which never change once they are stored, so that those in use are read and checked once. */
export interface KnownArrangements {
  /** By its id or, of 32 characters, the short id that tokens carry. */
  find(id: string): Promise<StoredArrangement | undefined>;
}

/** @param keptMax so many of those that were used last stay in memory, by default some ten megabytes */
export function createKnownArrangements(pool: Pick<Pool, 'query'>, keptMax = 1_000): KnownArrangements {
  const kept = createRecentlyUsed<StoredArrangement>(keptMax);
  return {
    find: async (id) => {
      const key = shortIdOf(id);
      const known = kept.find(key);
      if (known) return known;
      const arrangement = await findArrangement(pool, key);
      if (arrangement) kept.keep(key, arrangement, 1);
      return arrangement;
    },
  };
}
