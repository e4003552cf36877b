import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from './generated/rows.ts';

/** The time from which all our own facts are stored; undefined while none was removed. */
export async function readKeptFrom(tx: Pool | Transaction): Promise<Date | undefined> {
  const { rows } = await tx.query<Columns<'fact_retention', 'kept_from'>>('select kept_from from fact_retention');
  return rows[0]?.kept_from;
}
