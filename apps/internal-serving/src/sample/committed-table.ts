import type { Pool } from '@longwave/postgres';
import type { Committed } from '@longwave/rpc/serving';
import type { Columns } from '../generated/rows.ts';
import { countGoalSlots } from '../decisions/line-item-count-table.ts';

/** What line items with a goal have had: as the pacer knows it, and else the slots that decisions gave. */
export async function listCommitted(pool: Pool, lineItemIds: readonly string[]): Promise<Committed[]> {
  const { rows } = await pool.query<Columns<'line_pacing', 'line_item_id' | 'committed' | 'delivery_rate'>>({
    name: 'list-committed',
    text: 'select line_item_id, committed, delivery_rate from line_pacing where line_item_id = any ($1)',
    values: [lineItemIds],
  });
  const paced = new Map(
    rows.map((row) => [
      row.line_item_id,
      { lineItemId: row.line_item_id, units: row.committed, deliveryRate: row.delivery_rate },
    ]),
  );
  const unpaced = lineItemIds.filter((id) => !paced.has(id));
  const slots = unpaced.length > 0 ? await countGoalSlots(pool, unpaced) : new Map<string, number>();
  return [...paced.values(), ...[...slots].map(([lineItemId, units]) => ({ lineItemId, units, deliveryRate: 1 }))];
}
