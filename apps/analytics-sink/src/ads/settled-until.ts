import type { Pool, Transaction } from '@longwave/postgres';

/** Transactions of this name record nothing. */
const readerName = 'analytics-sink reader';

/** Lets a transaction read only, and however long it takes, nobody waits for what it might record. */
export async function beReader(tx: Transaction): Promise<void> {
  await tx.query(`set transaction read only; set local application_name = '${readerName}'`);
}

/**
 * Rows are dated by the beginning of their transaction. Whatever began before this time has ended: nothing older is still to come. A second
 * is left for a transaction that has begun and is not shown yet.
 */
const settledUntil = `
  select date_trunc('milliseconds', least(now() - interval '1 second', min(xact_start))) as until
  from pg_stat_activity where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
    and application_name <> '${readerName}'`;

/**
 * The time before which nothing will be recorded any more. Read before the rows: what ends meanwhile is seen by them, and what begins
 * meanwhile is of a later time.
 */
export async function readSettledUntil(db: Pool | Transaction): Promise<Date> {
  const { rows } = await db.query<{ until: Date }>({ name: 'settled_until', text: settledUntil });
  return rows[0]!.until;
}
