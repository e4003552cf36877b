import { expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import { createPool, isLockFailure } from '../src/index.ts';

const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

test('a wait that is too long and a deadlock are lock failures, other errors are not', async () => {
  await using database = await startTestDatabase({ schema: 'product' });
  const pool = createPool(database.url, 'product', { name: 'locks', max: 2 });
  const [one, other] = [await pool.connect(), await pool.connect()];
  const lock = 'select pg_advisory_xact_lock($1)';
  try {
    for (const client of [one, other]) await client.query('begin');
    await one.query(lock, [1]);
    await other.query(lock, [2]);
    const crossed = await Promise.all([failureOf(one.query(lock, [2])), failureOf(other.query(lock, [1]))]);
    expect(crossed.map(isLockFailure).sort()).toEqual([false, true]);
    for (const client of [one, other]) await client.query('rollback');

    await one.query('begin');
    await one.query(lock, [1]);
    expect(isLockFailure(await failureOf(other.query(lock, [1])))).toBe(true);
    expect(isLockFailure(await failureOf(other.query('select 1 / 0')))).toBe(false);
    expect([undefined, null, 'text', new Error('55P03')].some(isLockFailure)).toBe(false);
  } finally {
    for (const client of [one, other]) client.release(true);
    await pool.end();
  }
});
