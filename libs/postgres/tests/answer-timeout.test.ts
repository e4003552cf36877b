import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import pMap from 'p-map';
import {
  copyRows,
  createPool,
  databaseOutage,
  queryPrepared,
  setStatementTimeout,
  transaction,
  type Pool,
} from '../src/index.ts';

let database: Awaited<ReturnType<typeof startTestDatabase>>;
beforeAll(async () => {
  database = await startTestDatabase({ schema: 'product' });
});
afterAll(async () => {
  await database?.[Symbol.asyncDispose]();
});

/** A pool of one connection, and how to let that go dead: it stays open, and nothing comes through it any more. */
async function openLine(options: { readonly copies?: boolean } = {}) {
  const to = new URL(database.adminUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = net.createServer((near) => {
    const far = net.connect(Number(to.port), to.hostname);
    pairs.add([near, far]);
    near.on('error', () => undefined).on('close', () => far.destroy());
    far.on('error', () => undefined).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { href } = Object.assign(new URL(to), { hostname: '127.0.0.1', port: String(port) });
  const pool = createPool(href, 'product', { name: 'line', max: 1, statementTimeoutMs: 300, ...options });
  return {
    pool,
    cut: () => {
      for (const [near, far] of pairs) near.unpipe(far).resume();
      pairs.clear();
    },
    [Symbol.asyncDispose]: async () => {
      await pool.end();
      server.close();
      await once(server, 'close');
    },
  };
}

const outage = { code: 'temporarily_unavailable' };
const outcomeOf = (work: Promise<unknown>) => work.then(() => 'done', databaseOutage);

test('whatever is asked on a dead connection is an outage after some seconds, and its place goes to a new connection', async () => {
  const uses: readonly ((pool: Pool) => Promise<unknown>)[] = [
    (pool) => pool.query('select 1'),
    (pool) => queryPrepared(pool, 'select 1', []),
    (pool) => transaction(pool, (tx) => tx.query('select 1')),
  ];
  const tries = [false, true].flatMap((copies) => uses.map((use) => ({ copies, use })));
  await pMap(tries, async ({ copies, use }) => {
    await using line = await openLine({ copies });
    await use(line.pool);
    line.cut();
    const beganAt = performance.now();
    expect(await outcomeOf(use(line.pool))).toMatchObject(outage);
    expect(performance.now() - beganAt).toBeLessThan(9_000);
    expect(await outcomeOf(use(line.pool))).toBe('done');
  });
});

test('rows that were copied leave no timer behind, and a connection that goes dead under them is an outage', async () => {
  await using line = await openLine({ copies: true });
  const { pool, cut } = line;
  const copy = (id: number) => transaction(pool, (tx) => copyRows(tx, 'place', 'id', [{ id }]));
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  await pool.query('create table place (id int primary key)');
  const before = timers();
  await copy(1);
  // Earlier timers, such as those of idle connections, may have ended meanwhile.
  expect(timers()).toBeLessThanOrEqual(before);
  const dead = transaction(pool, async (tx) => {
    await tx.query('select 1');
    cut();
    await copyRows(tx, 'place', 'id', [{ id: 2 }]);
  });
  expect(await outcomeOf(dead)).toMatchObject(outage);
  await copy(3);
  expect((await pool.query('select id from place order by id')).rows).toEqual([{ id: 1 }, { id: 3 }]);
});

test('a transaction that is given more time has it, and the next one on its connection has the time of the pool', async () => {
  await using patient = await openLine();
  await using next = await openLine();
  const given = transaction(patient.pool, async (tx) => {
    await setStatementTimeout(tx, 0);
    await tx.query('select pg_sleep(6)');
  });
  await transaction(next.pool, (tx) => setStatementTimeout(tx, 0));
  await expect(transaction(next.pool, (tx) => tx.query('select pg_sleep(6)'))).rejects.toMatchObject({ code: '57014' });
  next.cut();
  expect(await outcomeOf(next.pool.query('select 1'))).toMatchObject(outage);
  await given;
});
