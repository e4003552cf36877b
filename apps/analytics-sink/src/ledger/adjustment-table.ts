import type { Columns } from '@longwave/audience-store';
import { transaction, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { NewAdjustment } from './ledger-requests.ts';

type AdjustmentRow = Columns<
  'ad_adjustment',
  'item_id' | 'line_item_id' | 'quantity' | 'counting_basis' | 'reason' | 'reconciliation_id' | 'recorded_at'
> & {
  /** UTC date, `YYYY-MM-DD`. */
  readonly day: string;
};

const itemColumns = 'item_id, line_item_id, day, quantity, counting_basis, reason';

/**
 * Appends the adjustments of a reconciliation, each item once, however often it is posted. Throws `idempotency_conflict` when an item was
 * posted before with other content; then none is appended.
 * @returns how many were not there before
 */
export function postAdjustments(
  pool: Pool,
  workspaceId: string,
  reconciliationId: string,
  adjustments: readonly NewAdjustment[],
): Promise<number> {
  return transaction(pool, async (tx) => {
    const values = [workspaceId, reconciliationId, JSON.stringify(adjustments)];
    const { rowCount } = await tx.query(
      `insert into ad_adjustment (workspace_id, reconciliation_id, ${itemColumns})
       select $1, $2, ${itemColumns} from json_populate_recordset(null::ad_adjustment, $3) order by item_id
       on conflict (workspace_id, reconciliation_id, item_id) do nothing`,
      values,
    );
    const { rows: others } = await tx.query<Columns<'ad_adjustment', 'item_id'>>(
      `select a.item_id from json_populate_recordset(null::ad_adjustment, $3) k
       join ad_adjustment a on (a.workspace_id, a.reconciliation_id, a.item_id) = ($1, $2, k.item_id)
       where (a.line_item_id, a.day, a.quantity, a.counting_basis, a.reason)
         is distinct from (k.line_item_id, k.day, k.quantity, k.counting_basis, k.reason) order by 1 limit 20`,
      values,
    );
    if (others.length > 0)
      throw new Problem(
        'idempotency_conflict',
        `Items were posted before with other content: ${others.map((row) => row.item_id).join(', ')}.`,
      );
    return rowCount ?? 0;
  });
}

/** The adjustments of line items that were recorded up to a time, in the order in which they were recorded. */
export async function listAdjustments(
  pool: Pool,
  workspaceId: string,
  lineItemIds: readonly string[],
  knownAt: Date,
): Promise<AdjustmentRow[]> {
  const { rows } = await pool.query<AdjustmentRow>(
    `select item_id, line_item_id, day::text, quantity, counting_basis, reason, reconciliation_id, recorded_at
     from ad_adjustment where workspace_id = $1 and line_item_id = any($2) and recorded_at <= $3 order by id`,
    [workspaceId, lineItemIds, knownAt],
  );
  return rows;
}
