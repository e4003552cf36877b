import { transaction, type Pool, type Session } from '@longwave/postgres';
import { changeServingMode } from '../leases/serving-mode-table.ts';
import { carryCountsOver } from './line-pacing-table.ts';
import { underTerm } from './pacer-term-table.ts';

/** Line items whose counts are read at a time. */
const batchSize = 500;

/**
 * Changes the mode to the wanted one once every live node counts goals by neither and no lease is open: what stored decisions gave before
 * is carried over to the line items that are known, so that nothing is given twice. Answers whether it changed.
 * @param countGoalSlots slots that the stored decisions gave, of all modes
 */
export async function changeMode(
  pool: Pool,
  term: number,
  countGoalSlots: (session: Session, lineItemIds: readonly string[]) => Promise<ReadonlyMap<string, number>>,
): Promise<boolean> {
  return transaction(pool, async (tx) => {
    // The term stays locked until the end.
    const { rows: terms } = await tx.query(
      `${underTerm} select from term where not exists (select from quota_lease where not counted)`,
      [term],
    );
    if (terms.length === 0 || !(await changeServingMode(tx))) return false;
    const { rows: lines } = await tx.query<{ line_item_id: string }>('select line_item_id from line_pacing');
    for (let from = 0; from < lines.length; from += batchSize) {
      const ids = lines.slice(from, from + batchSize).map((row) => row.line_item_id);
      await carryCountsOver(tx, await countGoalSlots(tx, ids));
    }
    return true;
  });
}
