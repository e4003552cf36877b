import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { contendingStates } from './booked-plan.ts';

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

/** Some of them, those first of which a line item that is sold changed last. @param but those that are left out */
export async function listLastSellers(
  pool: Pool,
  { but, most }: { readonly but: readonly string[]; readonly most: number },
): Promise<readonly string[]> {
  const { rows } = await pool.query<Columns<'booking_version', 'workspace_id'>>({
    name: 'list_last_sellers',
    text: `select workspace_id from booking_version as seller where workspace_id <> all($1)
           order by (
             select max(updated_at) from resource
             where workspace_id = seller.workspace_id and resource_type = 'line_items' and lifecycle_state = any($2)
           ) desc nulls last, workspace_id limit $3`,
    values: [but, [...contendingStates, 'completed'], most],
  });
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
