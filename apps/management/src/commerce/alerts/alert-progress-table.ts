import type { Pool, Transaction } from '@longwave/postgres';

/** Position of the last alert event that was told; 0 before the first. */
export async function findAlertProgress(pool: Pool): Promise<bigint> {
  const { rows } = await pool.query<{ position: string }>({
    name: 'find_alert_progress',
    text: 'select position::text from alert_progress',
  });
  return BigInt(rows[0]?.position ?? 0);
}

/** Moves on to an event; false when another process has told it, for which this one waits. */
export async function moveAlertProgress(tx: Transaction, position: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'move_alert_progress',
    text: `insert into alert_progress (position) values ($1) on conflict (only_row) do update set position = excluded.position
           where alert_progress.position < excluded.position`,
    values: [position.toString()],
  });
  return rowCount === 1;
}
