import type { Pool, Transaction } from '@longwave/postgres';

/** SQL: whether the account `a` waits for its owner to provision its workspace. */
export const isWithoutWorkspace = 'exists (select from account_without_workspace w where w.account_id = a.id)';

/** Records that the workspace of a new account is not provisioned. */
export async function insertWithoutWorkspace(
  tx: Transaction,
  account: { readonly accountId: string; readonly workspaceId: string; readonly since: Date },
): Promise<void> {
  await tx.query('insert into account_without_workspace (account_id, workspace_id, since) values ($1, $2, $3)', [
    account.accountId,
    account.workspaceId,
    account.since,
  ]);
}

/** Records that a workspace is provisioned: from then on the credentials of its account have their rights. */
export async function deleteWithoutWorkspace(pool: Pool, workspaceId: string): Promise<void> {
  await pool.query('delete from account_without_workspace where workspace_id = $1', [workspaceId]);
}
