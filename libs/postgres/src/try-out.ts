import type pg from 'pg';

/**
 * Runs `work` inside a transaction and undoes what it wrote, with the locks that it took; what was written and locked before stays. Answers
 * its result. What it throws ends the whole transaction, as anywhere else.
 */
export async function tryOut<T>(tx: pg.PoolClient, work: () => Promise<T> | T): Promise<T> {
  await tx.query('SAVEPOINT tried_out');
  const result = await work();
  await tx.query('ROLLBACK TO SAVEPOINT tried_out');
  await tx.query('RELEASE SAVEPOINT tried_out');
  return result;
}
