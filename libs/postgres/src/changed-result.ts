import pg from 'pg';

/**
 * Whether a statement that a connection keeps prepared has other columns than when it was prepared: a migration added one to a table of
 * which it reads whole rows. PostgreSQL refuses it on this connection for ever, before it has done anything.
 */
export const isChangedResult = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';

type Query = (...args: readonly unknown[]) => Promise<unknown> | undefined;

/** A pool that sends a single statement again when a connection refuses it so. The refused connection ends, so one is left less. */
export class RepeatingPool extends pg.Pool {
  constructor(options: pg.PoolConfig) {
    super(options);
    const send = this.query.bind(this) as Query;
    const sendAgain = (left: number, args: readonly unknown[]): Promise<unknown> | undefined =>
      send(...args)?.catch((error: unknown) => {
        if (left === 0 || !isChangedResult(error)) throw error;
        return sendAgain(left - 1, args);
      });
    this.query = ((...args) => sendAgain(this.options.max, args)) as Query as typeof this.query;
  }
}
