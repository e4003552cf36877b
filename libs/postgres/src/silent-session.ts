import type pg from 'pg';

/**
 * The server ends a session that asks nothing for so long, and with it the locks that the session holds. Otherwise they stay until the server
 * notices that a broken network has taken the client away, by default after two hours.
 */
export const silentSessionMs = 30_000;

/** Ends the session after a silence. For sessions with locks; the pool must not get it back. */
export async function endWhenSilent(client: pg.PoolClient, afterMs = silentSessionMs): Promise<void> {
  await client.query(`set idle_session_timeout = ${afterMs}`);
}

/** Asks something from time to time while the work lasts, so that the session of its lock is not silent. */
export async function keepTalking<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  // An error is that of a connection which is lost: the next statement meets it too.
  const timer = setInterval(() => void client.query('select 1').catch(() => undefined), silentSessionMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
