import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { removeDataFolder, temporaryDataFolder } from '../src/data-folder.ts';
import { startEmbeddedPostgres } from '../src/embedded-postgres.ts';
import { startTestDatabase } from '../src/test-database.ts';
import { startTestRedis } from '../src/test-redis.ts';

test('a test database is a real PostgreSQL with the schema of one owner', async () => {
  await using database = await startTestDatabase({ schema: 'product' });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT current_user AS user, has_schema_privilege($1, $2) AS usable', [
      'product',
      'USAGE',
    ]);
    expect(rows).toEqual([{ user: 'longwave_product', usable: true }]);
  } finally {
    await client.end();
  }
});

test('a test Redis is empty and its own', async () => {
  await using first = await startTestRedis();
  await using second = await startTestRedis();
  const [a, b] = [new Redis(first.url), new Redis(second.url)];
  try {
    await a.set('key', '1');
    expect(await b.dbsize()).toBe(0);
  } finally {
    await a.quit();
    await b.quit();
  }
});

test('a copied cluster leaves the server of the first alone, whose pid file was copied with it', async () => {
  const [first, copy] = [temporaryDataFolder(), temporaryDataFolder()];
  const open = (data: typeof first) =>
    startEmbeddedPostgres({
      folder: data.postgres,
      password: 'test-only',
      mode: 'fast',
      logFile: data.logFile('postgres'),
      pidFolder: data.pids,
    });
  const running = await open(first);
  spawnSync('cp', ['-a', first.postgres, copy.postgres]);
  try {
    const another = await open(copy);
    await another.stop();
    expect(running.child.isRunning()).toBe(true);
  } finally {
    await running.stop();
    for (const data of [first, copy]) removeDataFolder(data);
  }
});
