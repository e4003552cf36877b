import { expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import pg from 'pg';
import { createPool } from '../src/index.ts';

test('a connection that the server ends between two queries rejects the next query, and the process goes on', async () => {
  await using database = await startTestDatabase({ schema: 'product' });
  const pool = createPool(database.url, 'product', { name: 'broken', max: 1 });
  const admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  try {
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await admin.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await ended;
    await expect(client.query('select 1')).rejects.toThrow();
    client.release(true);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await admin.end();
    await pool.end();
  }
});
