import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import pMap from 'p-map';
import pg from 'pg';
import { createAwaitHolders } from '../src/verification/await-holders.ts';
import { createFollowChanges, leaseMs } from '../src/verification/follow-changes.ts';
import { awaitsHolders } from '../src/verification/verification-table.ts';

/** Without a server: nothing changes but by these tests. */
let database: Awaited<ReturnType<typeof startTestDatabase>>;
let admin: pg.Pool;
let pool: Pool;
let statements: number;
beforeAll(async () => {
  database = await startTestDatabase({ schema: 'identity', migrations: 'apps/auth-server/prisma' });
  admin = new pg.Pool({ connectionString: database.adminUrl, options: '-c search_path=identity' });
  await admin.query('insert into verification_position (id, position) values (1, 1)');
}, 120_000);
afterAll(async () => {
  await admin?.end();
  await database?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  pool = createPool(database.url, 'identity', { name: 'waiting', settings: awaitsHolders });
  statements = 0;
  pool.on('release', () => (statements += 1));
});
afterEach(async () => {
  await admin.query('delete from verification_holder');
  await pool.end();
});
const note = () => admin.query('update verification_position set position = position + 1');
/** A holder that has heard of every change of now. */
async function addHolder(holderLeaseMs: number) {
  await admin.query(
    `insert into verification_holder (id, acknowledged, lease_ms) select 'frozen', position, $1 from verification_position`,
    [holderLeaseMs],
  );
}
const acknowledgeNext = () => admin.query('update verification_holder set acknowledged = acknowledged + 1');

test('300 answers that wait cost the looks of one at the holders, on one connection', async () => {
  await addHolder(leaseMs);
  await note();
  const awaitHolders = createAwaitHolders(pool, () => undefined);
  const waitedMs = await pMap(Array.from({ length: 300 }), async () => {
    const beganAt = performance.now();
    await awaitHolders();
    return performance.now() - beganAt;
  });
  expect(Math.min(...waitedMs)).toBeGreaterThanOrEqual(leaseMs);
  expect(pool.totalCount).toBe(1);
  expect(statements).toBeLessThan(leaseMs / 5);
});

test('each answer is given when its own change is acknowledged: no sooner, and not after later ones', async () => {
  await addHolder(60_000);
  const awaitHolders = createAwaitHolders(pool, () => undefined);
  const given: string[] = [];
  const began = (name: string) => awaitHolders().then(() => given.push(name));
  await note();
  const first = began('first');
  await until('a look', async () => statements > 0);
  await note();
  const second = began('second');
  await acknowledgeNext();
  await first;
  const looks = statements;
  await until('further looks', async () => statements > looks + 2);
  expect(given).toEqual(['first']);
  await acknowledgeNext();
  await second;
  expect(given).toEqual(['first', 'second']);
  await began('third');
});

test('a holder that was expelled delays the next answer by a whole lease, and is forgotten', async () => {
  await addHolder(leaseMs);
  await note();
  const awaitHolders = createAwaitHolders(pool, () => undefined);
  await awaitHolders();
  const { rows } = await admin.query('select expulsion is not null as expelled from verification_holder');
  expect(rows).toEqual([{ expelled: true }]);
  await note();
  const beganAt = performance.now();
  await awaitHolders();
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(leaseMs);
  expect((await admin.query('select from verification_holder')).rows).toEqual([]);
});

test('answers are given after a lease while the database is away', async () => {
  const away = createPool('postgresql://nobody@127.0.0.1:1/none', 'identity', { name: 'waiting' });
  const beganAt = performance.now();
  await createAwaitHolders(away, () => undefined)();
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(leaseMs);
  await away.end();
});

test('a gateway that leaves while a call of it is held is forgotten', async () => {
  await using changes = createFollowChanges({ pool, onError: () => undefined });
  const rows = async () => (await admin.query('select from verification_holder')).rows;
  const [change] = (await admin.query<{ position: string }>('select position from verification_position')).rows;
  const holder = randomUUID();
  const calling = new AbortController();
  const call = changes.follow({ holder, acknowledged: BigInt(change!.position), leaving: false }, calling);
  await until('its registration', async () => (await rows()).length === 1);
  calling.abort();
  await changes.follow({ holder, acknowledged: 0n, leaving: true }, new AbortController());
  await call;
  expect(await rows()).toEqual([]);
});
