import pg from 'pg';

/** A pool whose sessions see exactly one schema (the owner's), with bounded waits so that nothing hangs for ever. */
export function createPool(
  databaseUrl: string,
  schema: string,
  options: { readonly max?: number; readonly name: string; readonly statementTimeoutMs?: number },
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max ?? 10,
    application_name: options.name,
    options: `-c search_path=${schema} -c lock_timeout=2000 -c statement_timeout=${options.statementTimeoutMs ?? 30_000} -c idle_in_transaction_session_timeout=30000`,
    connectionTimeoutMillis: 5_000,
  });
  // A connection that breaks (server restart) must not end the process, whether it is idle or between two queries of its user:
  // the next query on it rejects, and the pool opens a new one.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** True when the database answers; rejects when it does not. */
export const pingDatabase = async (pool: pg.Pool): Promise<boolean> => (await pool.query('select 1')).rowCount === 1;

/**
 * Runs `work` in one transaction; commits its result, rolls back when it throws. A broken connection is discarded.
 * @param isolation default READ COMMITTED: rows are guarded by explicit locks
 */
export async function transaction<T>(
  pool: pg.Pool,
  work: (tx: pg.PoolClient) => Promise<T>,
  isolation: 'READ COMMITTED' | 'REPEATABLE READ' = 'READ COMMITTED',
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

export type Pool = pg.Pool;
/** One connection of a pool, held by its user. */
export type Session = pg.PoolClient;
export type Transaction = Session;
