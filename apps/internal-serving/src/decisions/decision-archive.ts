import { getLines, moveLines, type ObjectStore, type OldRows } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import type { DecisionReader } from './decision-reader.ts';
import { findDecisionRow, markArchived, readOldestDay, type PackedRow } from './decision-table.ts';
import { findOldDecision, markOldArchived, readOldestOldDay } from './old-decision-table.ts';
import { archiveLine, toStoredDecision, type StoredDecision } from './stored-decision.ts';

export interface DecisionArchive {
  /**
   * The decision of an id wherever it lies, or undefined. With a workspace, one of another workspace is looked for no further than one
   * that does not exist.
   */
  find(decisionId: string, workspaceId?: string): Promise<StoredDecision | undefined>;
  /**
   * Moves at most so many decisions that were made before a time to the object store; answers how many. Those that cannot be read stay.
   */
  moveOld(before: Date, maxRows: number): Promise<number>;
}

/** Decisions of one object: about a megabyte of JSON to read for a replay. */
const maxLines = 250;
const root = 'decisions';

/**
 * Decisions in PostgreSQL and, when they are old, in the object store. A row is emptied only after the object with it is stored, and
 * names that object; its id stays taken. After a kill between the two, the next run stores the same object again.
 */
export function createDecisionArchive(pool: Pool, store: ObjectStore, reader: DecisionReader): DecisionArchive {
  async function readArchived(decisionId: string, day: string, digest: string): Promise<StoredDecision> {
    for (const line of await getLines(store, `${root}/${day}`, digest)) {
      const row: unknown = line.includes(decisionId) ? JSON.parse(line) : undefined;
      if (row && (row as { decision_id: unknown }).decision_id === decisionId) return toStoredDecision(row);
    }
    throw new Error(`decision ${decisionId} is missing in its archive ${digest}`);
  }

  async function tryLine(row: PackedRow): Promise<OldRows['rows']> {
    const decision = await reader.tryRead(row);
    return decision ? [{ id: row.decisionId, line: archiveLine(row.decisionId, decision) }] : [];
  }

  /** Reads the rows before a time from the oldest to the newest, so that one which cannot be read holds up none. */
  function readLinesBefore(before: Date) {
    let behind: PackedRow | undefined;
    return async (maxRows: number): Promise<OldRows | undefined> => {
      for (;;) {
        const oldest = await readOldestDay(pool, before, maxRows, behind);
        if (!oldest) return undefined;
        behind = oldest.rows.at(-1);
        const rows = (await Promise.all(oldest.rows.map(tryLine))).flat();
        if (rows.length > 0) return { day: oldest.day, rows };
      }
    };
  }

  return {
    find: async (decisionId, workspaceId) => {
      const row = await findDecisionRow(pool, decisionId, workspaceId);
      if (row?.kind === 'packed') return reader.read(row);
      const found = row?.kind === 'archived' ? row : await findOldDecision(pool, decisionId, workspaceId);
      if (found?.kind === 'archived') return readArchived(decisionId, found.day, found.digest);
      return found && reader.read(found.row);
    },

    moveOld: async (before, maxRows) => {
      const moved = await moveLines(
        store,
        root,
        { maxRows, maxLines },
        {
          read: readLinesBefore(before),
          remove: (ids, digest) => markArchived(pool, ids, digest),
        },
      );
      const left = maxRows - moved;
      const movedOld = await moveLines(
        store,
        root,
        { maxRows: left, maxLines },
        {
          read: (count) => readOldestOldDay(pool, before, count),
          remove: (ids, digest) => markOldArchived(pool, ids, digest),
        },
      );
      return moved + movedOld;
    },
  };
}

const dayMs = 86_400_000;

/** The beginning of the UTC day so many days ago: decisions of whole days are moved. */
export const archivedBefore = (now: Date, days: number): Date =>
  new Date(Math.floor((now.getTime() - days * dayMs) / dayMs) * dayMs);
