import { expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import { createPool, databaseProblem } from '../src/index.ts';

test('a statement that takes too long is a timeout, a text with NUL is not valid, other errors are no problem of the caller', async () => {
  await using database = await startTestDatabase({ schema: 'product' });
  const pool = createPool(database.url, 'product', { name: 'problems', max: 1, statementTimeoutMs: 50 });
  const problemOf = (text: string, values: readonly unknown[] = []) =>
    pool.query(text, [...values]).then(() => 'none', databaseProblem);
  try {
    expect(await problemOf('select pg_sleep(60)')).toMatchObject({
      code: 'timeout',
      status: 504,
      context: { retryAfterSeconds: 5 },
    });
    expect(await problemOf('select $1::text', ['\u0000'])).toMatchObject({ code: 'validation_failed' });
    expect(await problemOf('select $1::jsonb', ['"\\u0000"'])).toMatchObject({ code: 'validation_failed' });
    expect(await problemOf('select 1 / 0')).toBeUndefined();
  } finally {
    await pool.end();
  }
});
