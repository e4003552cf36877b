import { LRUCache } from 'lru-cache';
import type { PackedRow } from './decision-table.ts';
import type { TextLists } from './known-texts.ts';
import type { OldRow } from './old-decision-table.ts';
import { unpackRow } from './packed-decision.ts';
import { toStoredDecision, UnreadableDecision, type StoredDecision } from './stored-decision.ts';

/** Decisions that were reported; of those before them one may be reported again. */
const maxReported = 10_000;

export interface DecisionReader {
  /** The decision of a row. Rejects with `UnreadableDecision` when it cannot be read. */
  read(row: PackedRow | OldRow): Promise<StoredDecision>;
  /** The same for one of many rows: undefined when it cannot be read, so that the others are. It is reported once. */
  tryRead(row: PackedRow | OldRow): Promise<StoredDecision | undefined>;
}

/** @param onUnreadable receives each decision that cannot be read, once */
export function createDecisionReader(
  texts: Pick<TextLists, 'get'>,
  onUnreadable: (error: UnreadableDecision) => void,
): DecisionReader {
  const reported = new LRUCache<string, true>({ max: maxReported });

  async function read(row: PackedRow | OldRow): Promise<StoredDecision> {
    if ('packed' in row) return unpackRow(texts, row);
    try {
      return toStoredDecision(JSON.parse(row.line));
    } catch (error) {
      throw new UnreadableDecision(row.decisionId, error);
    }
  }

  return {
    read,
    tryRead: async (row) => {
      try {
        return await read(row);
      } catch (error) {
        if (!(error instanceof UnreadableDecision)) throw error;
        if (!reported.has(row.decisionId)) onUnreadable(error);
        reported.set(row.decisionId, true);
        return undefined;
      }
    },
  };
}
