import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/**
 * The next number of a workspace's statements. Others wait until this transaction ends, and a transaction that is rolled back gives its
 * number back: so there are no gaps.
 */
export async function takeNumber(tx: Transaction, workspaceId: string): Promise<number> {
  const { rows } = await tx.query<Columns<'billing_number', 'last'>>({
    name: 'take_billing_number',
    text: `insert into billing_number (workspace_id, last) values ($1, 1)
           on conflict (workspace_id) do update set last = billing_number.last + 1 returning last`,
    values: [workspaceId],
  });
  return rows[0]!.last;
}
