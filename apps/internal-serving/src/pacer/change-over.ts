import { transaction, type Pool, type Session } from '@longwave/postgres';
import { insertLeasedSlots } from '../decisions/line-item-count-table.ts';
import { changeServingMode } from '../leases/serving-mode-table.ts';
import { carryCountsOver, listUsed } from './line-pacing-table.ts';
import { underTerm } from './pacer-term-table.ts';

/** Line items whose counts are read at a time. */
const batchSize = 500;

async function carryUseOver(
  tx: Session,
  lineItemIds: readonly string[],
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  const used = await listUsed(tx, lineItemIds);
  const leased = new Map([...used].map(([id, slots]) => [id, slots - (counts.get(id) ?? 0)] as const));
  await insertLeasedSlots(tx, new Map([...leased].filter(([, slots]) => slots > 0)));
}

/**
 * Changes the mode to the wanted one once every live node counts goals by neither and no lease is open. What the other mode gave is
 * carried over to the line items that are known, so that nothing is given twice: to leases, what the counts of decisions say; to the
 * guard, what leases gave beyond those counts. Answers whether it changed.
 * @param countGoalSlots slots by the counts of decisions
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
    const mode = terms.length > 0 ? await changeServingMode(tx) : undefined;
    if (!mode) return false;
    const { rows: lines } = await tx.query<{ line_item_id: string }>('select line_item_id from line_pacing');
    for (let from = 0; from < lines.length; from += batchSize) {
      const ids = lines.slice(from, from + batchSize).map((row) => row.line_item_id);
      const counts = await countGoalSlots(tx, ids);
      await (mode === 'lease' ? carryCountsOver(tx, counts) : carryUseOver(tx, ids, counts));
    }
    return true;
  });
}
