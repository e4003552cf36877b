import type { Transaction } from '@longwave/postgres';

/** Locks the id of a workspace that may not exist for this transaction, so that two transactions cannot both provision it. */
export async function lockWorkspaceId(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 3))', [workspaceId]);
}
