import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { RepeatingPool } from './changed-result.ts';

/** Settings of a pool: where it logs in. An address that is a function is asked at each connection. */
export function loginOf(databaseUrl: string | (() => string)): pg.PoolConfig {
  if (typeof databaseUrl === 'string') return { connectionString: databaseUrl };
  const addressOfNow = databaseUrl;
  return {
    Client: class extends pg.Client {
      constructor(options?: pg.ClientConfig) {
        super({ ...options, connectionString: addressOfNow() });
      }
    },
  };
}

const wrongPassword = '28P01';
/** Longer than a changed password takes to be noticed. */
const pauseMs = 500;

type ConnectCallback = Parameters<pg.Pool['connect']>[0];

/**
 * A pool that logs in once more when its password is refused: PostgreSQL has one password for a role, so for a moment of a rotation
 * the database and the address disagree.
 */
export class PatientPool extends RepeatingPool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | void {
    const connected = super.connect().catch(async (error: unknown) => {
      if (!(error instanceof pg.DatabaseError) || error.code !== wrongPassword) throw error;
      await sleep(pauseMs);
      return super.connect();
    });
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }
}
