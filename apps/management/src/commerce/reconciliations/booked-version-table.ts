import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** Those of line items that were booked at some time. */
export async function listOnceBooked(
  db: Pool | Transaction,
  lineItemIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await db.query<Columns<'revision', 'resource_id'>>({
    name: 'list_once_booked',
    text: `select distinct resource_id from revision where resource_id = any($1) and lifecycle_state = 'booked'`,
    values: [lineItemIds],
  });
  return rows.map(({ resource_id: id }) => id);
}
