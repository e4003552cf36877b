import type { Pool, Transaction } from '@longwave/postgres';

/** A node whose clock runs ahead may date a play after the erasure that it met. */
const maxSkew = `interval '1 minute'`;

/**
 * Names codes that are erased in a workspace. It waits for transactions that have called `holdErasures`: what they insert is there when it
 * returns, and what others insert later leaves these codes out.
 */
export async function insertErasedCodes(pool: Pool, workspaceId: string, codes: readonly Buffer[]): Promise<void> {
  await pool.query({
    name: 'insert-erased-codes',
    text: `insert into erased_code (workspace_id, code, erased_at)
           select $1, code, now() + ${maxSkew} from unnest($2::bytea[]) as one (code) order by code
           on conflict (workspace_id, code) do update set erased_at = excluded.erased_at`,
    values: [workspaceId, codes],
  });
}

/** Lets erasures wait until the transaction, which is about to insert codes, has ended. */
export async function holdErasures(tx: Transaction): Promise<void> {
  await tx.query({ name: 'hold-erasures', text: 'lock table erased_code in share mode' });
}

/** Removes codes that were erased before a time: whatever knew them then has been written. */
export async function removeErasedCodes(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove-erased-codes',
    text: `delete from erased_code where (workspace_id, code) in
             (select workspace_id, code from erased_code where erased_at < $1 limit $2)`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}
