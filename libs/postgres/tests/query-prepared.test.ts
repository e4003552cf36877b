import { expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import type { PoolClient } from 'pg';
import { createPool, queryPrepared } from '../src/index.ts';

test('a statement is prepared once for all of its values, and a connection keeps a bounded number of statements', async () => {
  await using database = await startTestDatabase({ schema: 'product' });
  const pool = createPool(database.url, 'product', { name: 'prepared', max: 1 });
  const prepared = async () =>
    (await pool.query<{ readonly statement: string }>('select statement from pg_prepared_statements')).rows.map(
      ({ statement }) => statement,
    );
  const text = (i: number) => `select $1::int + ${i} as sum`;
  try {
    for (const value of [1, 2, 3]) expect((await queryPrepared(pool, text(0), [value])).rows).toEqual([{ sum: value }]);
    expect(await prepared()).toEqual([text(0)]);

    await expect(queryPrepared(pool, 'select no_column', [])).rejects.toThrow('no_column');
    for (let i = 1; i < 200; i++) expect((await queryPrepared(pool, text(i), [1])).rows).toEqual([{ sum: 1 + i }]);
    const kept = await prepared();
    // The driver's own memory of them, which it never empties.
    const client = (await pool.connect()) as PoolClient & { connection: { parsedStatements: object } };
    expect(Object.keys(client.connection.parsedStatements).length).toBeLessThanOrEqual(66);
    client.release();
    expect(kept.length).toBeLessThanOrEqual(64);
    expect(kept).toContain(text(199));
    expect(kept).not.toContain(text(0));
    expect((await queryPrepared(pool, text(0), [1])).rows).toEqual([{ sum: 1 }]);
  } finally {
    await pool.end();
  }
});
