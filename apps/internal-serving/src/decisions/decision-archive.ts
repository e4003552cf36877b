import { getLines, moveLines, type ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import {
  markArchived,
  readOldestDay,
  toStoredDecision,
  findDecisionRow,
  type StoredDecision,
} from './decision-table.ts';

export interface DecisionArchive {
  /**
   * The decision of an id wherever it lies, or undefined. With a workspace, one of another workspace is looked for no further than one
   * that does not exist.
   */
  find(decisionId: string, workspaceId?: string): Promise<StoredDecision | undefined>;
  /** Moves at most so many decisions that were made before a time to the object store; answers how many. */
  moveOld(before: Date, maxRows: number): Promise<number>;
}

/** Decisions of one object: about a megabyte of JSON to read for a replay. */
const maxLines = 250;
const root = 'decisions';

/**
 * Decisions in PostgreSQL and, when they are old, in the object store. A row is emptied only after the object with it is stored, and
 * names that object; its id stays taken. After a kill between the two, the next run stores the same object again.
 */
export function createDecisionArchive(pool: Pool, store: ObjectStore): DecisionArchive {
  async function readArchived(decisionId: string, day: string, digest: string): Promise<StoredDecision> {
    for (const line of await getLines(store, `${root}/${day}`, digest)) {
      const row: unknown = line.includes(decisionId) ? JSON.parse(line) : undefined;
      if (row && (row as { decision_id: unknown }).decision_id === decisionId) return toStoredDecision(row);
    }
    throw new Error(`decision ${decisionId} is missing in its archive ${digest}`);
  }

  return {
    find: async (decisionId, workspaceId) => {
      const row = await findDecisionRow(pool, decisionId, workspaceId);
      return row?.kind === 'archived' ? readArchived(decisionId, row.day, row.digest) : row?.decision;
    },

    moveOld: (before, maxRows) =>
      moveLines(
        store,
        root,
        { maxRows, maxLines },
        {
          read: (count) => readOldestDay(pool, before, count),
          remove: (ids, digest) => markArchived(pool, ids, digest),
        },
      ),
  };
}

const dayMs = 86_400_000;

/** The beginning of the UTC day so many days ago: decisions of whole days are moved. */
export const archivedBefore = (now: Date, days: number): Date =>
  new Date(Math.floor((now.getTime() - days * dayMs) / dayMs) * dayMs);
