import { inBatches } from '@longwave/postgres';
import type { DecisionRow } from './decision-table.ts';

/** Writes a decision unless its id has one. Resolves once the row is durable: whether this call wrote it. */
export type WriteDecision = (row: DecisionRow) => Promise<boolean>;

/**
 * Writes in natural batches. Of calls with the same id the first one's row is written. A failing insert rejects the calls of its rows.
 * @param insert writes rows of different ids by one statement; answers the ids that it wrote
 */
export function createDecisionWriter(
  insert: (rows: readonly DecisionRow[]) => Promise<ReadonlySet<string>>,
): WriteDecision {
  return inBatches(async (rows) => {
    const firstAt = new Map<string, number>();
    for (const [at, { decisionId }] of rows.entries()) if (!firstAt.has(decisionId)) firstAt.set(decisionId, at);
    const isFirst = ({ decisionId }: DecisionRow, at: number) => firstAt.get(decisionId) === at;
    const written = await insert(rows.filter(isFirst));
    return rows.map((row, at) => isFirst(row, at) && written.has(row.decisionId));
  });
}
