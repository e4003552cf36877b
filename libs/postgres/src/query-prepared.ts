import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { isAnswerTimeout } from './answer-timeout.ts';
import { isChangedResult } from './changed-result.ts';

/** Statements that one connection keeps prepared: each takes memory of PostgreSQL, about 50 KB. */
const maxPrepared = 64;

interface PreparedStatements {
  /** Text → name. */
  readonly names: LRUCache<string, string>;
  /** Names of statements that gave way to others. */
  readonly dropped: string[];
}

const preparedOn = new WeakMap<pg.PoolClient, PreparedStatements>();
let named = 0;

function statementsOf(client: pg.PoolClient): PreparedStatements {
  const known = preparedOn.get(client);
  if (known) return known;
  const dropped: string[] = [];
  const names = new LRUCache<string, string>({ max: maxPrepared, dispose: (name) => dropped.push(name) });
  const made = { names, dropped };
  preparedOn.set(client, made);
  return made;
}

/** The driver keeps the text of every statement that it prepared, in a field of its own, for as long as the connection lives. */
function forget(client: pg.PoolClient, name: string): void {
  const { connection } = client as unknown as { readonly connection?: { parsedStatements?: Record<string, string> } };
  delete connection?.parsedStatements?.[name];
}

/**
 * Runs a statement that is put together from parts, prepared: to plan such a statement costs more than to run it. A connection keeps
 * those that it ran last; a statement that is always the same has a name of its own instead.
 */
export async function queryPrepared<R extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult<R>> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const { names, dropped } = statementsOf(client);
    // A name is used once: the driver remembers those that it prepared.
    const name = names.get(text) ?? `prepared_${++named}`;
    if (!names.has(text)) names.set(text, name);
    // A statement with a fault was named but never prepared.
    for (const old of dropped.splice(0)) {
      await client.query(`deallocate ${old}`).catch(() => undefined);
      forget(client, old);
    }
    return await client.query<R>({ name, text, values });
  } catch (error) {
    if (isAnswerTimeout(error) || isChangedResult(error)) broken = error;
    throw error;
  } finally {
    client.release(broken);
  }
}
