import { moveLines, type ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { readOldBindings, removeBindings } from './old-binding-table.ts';

/** Bindings of one object. */
const maxLines = 1_000;

/**
 * Moves bindings with ads that began before a time to the object store (`bindings/{day}/…`), at most so many; answers how many.
 * The archive proves what was played, not to whom.
 */
export const archiveBindings = (pool: Pool, store: ObjectStore, before: Date, maxRows: number): Promise<number> =>
  moveLines(
    store,
    'bindings',
    { maxRows, maxLines },
    {
      read: (count) => readOldBindings(pool, before, count),
      remove: (ids) => removeBindings(pool, ids),
    },
  );
