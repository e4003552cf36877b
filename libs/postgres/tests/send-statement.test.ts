import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import pg from 'pg';
import { createPool, sendStatement, transaction, tryOut, type Pool } from '../src/index.ts';

let database: Awaited<ReturnType<typeof startTestDatabase>>;
let admin: pg.Client;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'product' });
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  await admin.query('create table product.note (id int primary key); grant all on product.note to public');
  pool = createPool(database.url, 'product', { name: 'sent', max: 1 });
});
afterAll(async () => {
  await pool?.end();
  await admin?.end();
  await database?.[Symbol.asyncDispose]();
});

const insert = (id: number) => ({ name: 'insert_note', text: 'insert into note (id) values ($1)', values: [id] });
const notes = async () => {
  const { rows } = await admin.query<{ id: number }>('select id from product.note order by id');
  return rows.map(({ id }) => id);
};

test('statements that were sent are carried out before those that follow, and committed', async () => {
  const seen = await transaction(pool, async (tx) => {
    sendStatement(tx, insert(1));
    sendStatement(tx, insert(2));
    return (await tx.query('select id from note order by id')).rows;
  });
  expect(seen).toEqual([{ id: 1 }, { id: 2 }]);
  await transaction(pool, async (tx) => sendStatement(tx, insert(3)));
  expect(await notes()).toEqual([1, 2, 3]);
});

test('a statement that fails later fails its transaction with its own error, whatever follows it', async () => {
  const followers: readonly ((tx: pg.PoolClient) => Promise<unknown>)[] = [
    () => Promise.resolve(),
    (tx) => Promise.resolve(sendStatement(tx, insert(11))),
    (tx) => tx.query('select 1'),
    () => Promise.reject(new Error('what the work made of it')),
  ];
  for (const follow of followers) {
    const work = async (tx: pg.PoolClient) => {
      sendStatement(tx, insert(10));
      sendStatement(tx, insert(1));
      await follow(tx);
    };
    await expect(transaction(pool, work)).rejects.toMatchObject({ code: '23505' });
  }
  expect(await notes()).toEqual([1, 2, 3]);
  await transaction(pool, async (tx) => sendStatement(tx, insert(4)));
  expect(await notes()).toEqual([1, 2, 3, 4]);
});

test('a statement with a value that has no JSON is refused before it is sent, and spoils neither transaction nor connection', async () => {
  const noted = (value: unknown) => ({ name: 'note_json', text: 'select $1::jsonb', values: [value] });
  const work = async (tx: pg.PoolClient) => {
    sendStatement(tx, insert(40));
    sendStatement(tx, noted({ much: 1n }));
  };
  await expect(transaction(pool, work)).rejects.toThrow(TypeError);
  expect(await notes()).not.toContain(40);
  await transaction(pool, async (tx) => sendStatement(tx, noted({ much: 1 })));
});

test('an error of the work itself is thrown when all that was sent has succeeded, and nothing of it stays', async () => {
  const work = async (tx: pg.PoolClient) => {
    sendStatement(tx, insert(20));
    await tx.query('select 1');
    throw new Error('refused');
  };
  await expect(transaction(pool, work)).rejects.toThrow('refused');
  expect(await notes()).toEqual([1, 2, 3, 4]);
});

test('a connection that ends under statements that were sent fails the transaction, and the pool opens another', async () => {
  const work = async (tx: pg.PoolClient) => {
    sendStatement(tx, { text: 'select pg_terminate_backend(pg_backend_pid())' });
    sendStatement(tx, insert(30));
  };
  await expect(transaction(pool, work)).rejects.toThrow();
  await transaction(pool, async (tx) => sendStatement(tx, insert(31)));
  expect(await notes()).toEqual([1, 2, 3, 4, 31]);
});

test('what is tried out is undone with its locks and answers; what was written and locked before stays, and a failure fails all', async () => {
  await admin.query('insert into product.note values (50), (51)');
  const lock = (id: number, how = '') => ({
    text: `select id from product.note where id = $1 for update ${how}`,
    values: [id],
  });
  const seen = await transaction(pool, async (tx) => {
    await tx.query(lock(50));
    sendStatement(tx, insert(52));
    const found = await tryOut(tx, async () => {
      await tx.query(lock(51));
      sendStatement(tx, insert(53));
      return (await tx.query<{ id: number }>('select id from note where id > 51 order by id')).rows;
    });
    await expect(admin.query(lock(50, 'nowait'))).rejects.toMatchObject({ code: '55P03' });
    await admin.query(lock(51, 'nowait'));
    return found;
  });
  expect(seen).toEqual([{ id: 52 }, { id: 53 }]);
  expect((await notes()).filter((id) => id >= 50)).toEqual([50, 51, 52]);
  for (const work of [
    (tx: pg.PoolClient) => sendStatement(tx, insert(50)),
    (tx: pg.PoolClient) => tx.query(insert(50)),
  ])
    await expect(
      transaction(pool, async (tx) => {
        sendStatement(tx, insert(54));
        await tryOut(tx, async () => work(tx));
      }),
    ).rejects.toMatchObject({ code: '23505' });
  expect(await notes()).not.toContain(54);
});
