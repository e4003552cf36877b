import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import pg from 'pg';
import { createPool, databaseOutage, queryPrepared, transaction, type Pool } from '../src/index.ts';

let database: TestDatabase;
let pool: Pool;

beforeEach(async () => {
  database = await startTestDatabase({ schema: 'product' });
  await migrate('create table product.thing (a int default 1); insert into product.thing default values');
  await migrate('grant select on product.thing to longwave_product');
  pool = createPool(database.url, 'product', { name: 'prepared', max: 3 });
});
afterEach(async () => {
  await pool?.end();
  await database?.stop();
});

async function migrate(sql: string) {
  const admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  await admin.query(sql).finally(() => admin.end());
}

const wholeRows = { name: 'whole_rows', text: 'select * from thing' };

/** Prepares statements on every connection of the pool. */
async function prepareOnAll(prepare: (client: pg.PoolClient) => Promise<unknown>) {
  const clients = await Promise.all([1, 2, 3].map(() => pool.connect()));
  for (const client of clients) await prepare(client);
  for (const client of clients) client.release();
}

test('a statement that reads whole rows gives its answer when a migration has added a column, on whichever connection', async () => {
  await prepareOnAll((client) => client.query(wholeRows));
  await migrate('alter table product.thing add b int default 2');
  const answers = await Promise.all([1, 2, 3, 4].map(() => pool.query(wholeRows)));
  for (const { rows } of answers) expect(rows).toEqual([{ a: 1, b: 2 }]);
});

test('such a statement fails a transaction in a way that may be repeated, at most once on each connection', async () => {
  await prepareOnAll((client) => client.query(wholeRows));
  await migrate('alter table product.thing add b int default 2');
  const read = () => transaction(pool, (tx) => tx.query(wholeRows));
  for (let connection = 1; connection <= 3; connection++)
    expect(databaseOutage(await read().catch((error: unknown) => error))).toMatchObject({
      code: 'temporarily_unavailable',
    });
  expect((await read()).rows).toEqual([{ a: 1, b: 2 }]);
});

test('a statement that is put together from parts fails at most once on each connection', async () => {
  const single = createPool(database.url, 'product', { name: 'prepared', max: 1 });
  try {
    const read = () => queryPrepared(single, 'select * from thing', []);
    await read();
    await migrate('alter table product.thing add b int default 2');
    expect(databaseOutage(await read().catch((error: unknown) => error))).toBeDefined();
    expect((await read()).rows).toEqual([{ a: 1, b: 2 }]);
  } finally {
    await single.end();
  }
});
