import { putLines, type ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { readOldBindings, removeBindings } from './old-binding-table.ts';

/** Bindings of one object. */
const linesMax = 1_000;

/**
 * Moves bindings with ads that began before a time to the object store (`bindings/{day}/…`), at most so many; answers how many. What was
 * played stays provable there, to whom it was played does not. A row is removed only after the object with it is stored; whoever is
 * killed between the two stores the same object again.
 */
export async function archiveBindings(pool: Pool, store: ObjectStore, before: Date, rowsMax: number): Promise<number> {
  let moved = 0;
  while (moved < rowsMax) {
    const found = await readOldBindings(pool, before, Math.min(linesMax, rowsMax - moved));
    if (!found) break;
    await putLines(
      store,
      `bindings/${found.day}`,
      found.rows.map(({ line }) => line),
    );
    await removeBindings(
      pool,
      found.rows.map(({ decisionId }) => decisionId),
    );
    moved += found.rows.length;
  }
  return moved;
}
