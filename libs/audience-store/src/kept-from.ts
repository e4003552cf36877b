import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from './generated/rows.ts';

/** The time before which our own facts are no longer all there; undefined while nothing was removed. */
export async function readKeptFrom(tx: Pool | Transaction): Promise<Date | undefined> {
  const { rows } = await tx.query<Columns<'fact_retention', 'kept_from'>>('select kept_from from fact_retention');
  return rows[0]?.kept_from;
}
