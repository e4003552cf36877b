import pg from 'pg';
import { answerTimeoutMs, isAnswerTimeout, restoreStatementTimeout } from './answer-timeout.ts';
import { isChangedResult, RepeatingPool } from './changed-result.ts';
import { loginOf, PatientPool } from './current-login.ts';

interface PoolOptions {
  readonly name: string;
  /** Connections, 10 by default. */
  readonly max?: number;
  /**
   * Milliseconds after which a statement is ended, 30,000 by default. When the connection brings no answer for 5 s more, it is dead, and the
   * statement fails.
   */
  readonly statementTimeoutMs?: number;
  /**
   * Its statements read pages in the order of an index. A planner that takes a workspace for a small one would collect all of its rows and
   * sort them for every page; these sessions read along the index whatever the statistics say.
   */
  readonly readsPages?: boolean;
  /**
   * Its statements find rows by their keys. They are planned once a connection, for keys that nobody knows yet: to plan one anew for each
   * batch costs as much as to run it.
   */
  readonly readsKeys?: boolean;
  /**
   * Its transactions use `copyRows`, so each statement waits for the answer to the one before. Others pipeline, which has no COPY:
   * see `sendStatement`.
   */
  readonly copies?: boolean;
  /** Further settings of its sessions, which functions of the schema read. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Rejects, and then the pool ends the connection, when a setting is none. */
async function applySettings(
  client: pg.ClientBase,
  settings: Readonly<Record<string, string | number>>,
): Promise<void> {
  const names = Object.keys(settings);
  await client.query(`select ${names.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, false)`).join(', ')}`, [
    ...names.flatMap((setting) => [setting, String(settings[setting])]),
  ]);
}

const defaultConnectMs = 5_000;

/** The `connect_timeout` of an address (a parameter of libpq, in seconds), or 5 s where it names none. */
function connectTimeoutMs(databaseUrl: string): number {
  const seconds = URL.canParse(databaseUrl) ? Number(new URL(databaseUrl).searchParams.get('connect_timeout')) : 0;
  return seconds > 0 ? seconds * 1_000 : defaultConnectMs;
}

/**
 * A pool whose sessions see exactly one schema (the owner's), with bounded waits so that nothing hangs for ever.
 * @param databaseUrl a function is asked at each connection, so that a changed password needs no restart
 */
export function createPool(databaseUrl: string | (() => string), schema: string, options: PoolOptions): pg.Pool {
  const {
    name,
    max = 10,
    statementTimeoutMs = 30_000,
    readsPages = false,
    readsKeys = false,
    copies = false,
    settings: further,
  } = options;
  const settings = {
    search_path: schema,
    lock_timeout: 2_000,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    ...(readsPages && { enable_bitmapscan: 'off' }),
    ...(readsKeys && { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' }),
    ...further,
  };
  const pool = new (typeof databaseUrl === 'string' ? RepeatingPool : PatientPool)({
    ...loginOf(databaseUrl),
    max,
    application_name: name,
    // A statement and not `options` of the connection: a pooler knows none of those, or keeps them for another client.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client) => applySettings(client, settings),
    connectionTimeoutMillis: connectTimeoutMs(typeof databaseUrl === 'string' ? databaseUrl : databaseUrl()),
    query_timeout: answerTimeoutMs(statementTimeoutMs),
    pipeline: !copies,
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** True when the database answers; rejects when it does not. */
export const pingDatabase = async (pool: pg.Pool): Promise<boolean> => (await pool.query('select 1')).rowCount === 1;

/** The first failure among the statements that a transaction has sent without waiting. */
const sentFailures = new WeakMap<pg.PoolClient, Error>();

const isPlain = (value: unknown) =>
  value === null ||
  typeof value !== 'object' ||
  value instanceof Date ||
  Buffer.isBuffer(value) ||
  Array.isArray(value);

/**
 * Sends a statement of a transaction without waiting for its answer, which nobody needs. The next statement follows at once. When it
 * fails, PostgreSQL refuses everything after it, and `transaction` throws this statement's error. Not for pools with `copies`.
 *
 * Objects become JSON here: one that has none throws before anything is sent, where the driver would leave this statement out and
 * commit the others.
 */
export function sendStatement(tx: pg.PoolClient, statement: pg.QueryConfig): void {
  const values = statement.values?.map((value: unknown) => (isPlain(value) ? value : JSON.stringify(value)));
  tx.query({ ...statement, ...(values && { values }) }).catch((error: Error) => {
    if (!sentFailures.has(tx)) sentFailures.set(tx, error);
  });
}

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
    if (sentFailures.has(client)) throw new Error('A statement that was sent has failed.');
    const { command } = await client.query('COMMIT');
    // PostgreSQL answers COMMIT with ROLLBACK where a statement before it failed.
    if (command !== 'COMMIT') throw new Error('The transaction failed.');
    return result;
  } catch (error) {
    if (isAnswerTimeout(error) || isChangedResult(error)) broken = error;
    else
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
    throw sentFailures.get(client) ?? error;
  } finally {
    sentFailures.delete(client);
    restoreStatementTimeout(pool, client);
    client.release(broken);
  }
}

export type Pool = pg.Pool;
/** One connection of a pool, held by its user. */
export type Session = pg.PoolClient;
export type Transaction = Session;
