import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** The version of a workspace's bookings; 0 when nothing was ever sold. */
export async function findBookingVersion(db: Pool | Transaction, workspaceId: string): Promise<number> {
  const { rows } = await db.query<Columns<'booking_version', 'version', { version: string }>>({
    name: 'find_booking_version',
    text: 'select version from booking_version where workspace_id = $1',
    values: [workspaceId],
  });
  return Number(rows[0]?.version ?? 0);
}

/** The same, locked until the transaction ends: nobody sells meanwhile. */
export async function lockBookingVersion(tx: Transaction, workspaceId: string): Promise<number> {
  const { rows } = await tx.query<Columns<'booking_version', 'version', { version: string }>>({
    name: 'lock_booking_version',
    text: `insert into booking_version (workspace_id, version) values ($1, 0)
           on conflict (workspace_id) do update set version = booking_version.version returning version`,
    values: [workspaceId],
  });
  return Number(rows[0]!.version);
}

/** The workspaces that ever sold something. */
export async function listSellingWorkspaces(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<Columns<'booking_version', 'workspace_id'>>(
    'select workspace_id from booking_version',
  );
  return rows.map((row) => row.workspace_id);
}

/** Says that what is sold in a workspace has changed. */
export async function raiseBookingVersion(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query({
    name: 'raise_booking_version',
    text: `insert into booking_version (workspace_id, version) values ($1, 1)
           on conflict (workspace_id) do update set version = booking_version.version + 1`,
    values: [workspaceId],
  });
}
