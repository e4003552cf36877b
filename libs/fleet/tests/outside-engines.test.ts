import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { removeDataFolder, temporaryDataFolder } from '../src/data-folder.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../src/embedded-postgres.ts';
import { startObjectStoreServer, type ObjectStoreServer } from '../src/object-store-server.ts';
import { startRedisServer, type RedisServer } from '../src/redis-server.ts';
import { startFleet } from '../src/start-fleet.ts';

const elsewhere = temporaryDataFolder();
const stack = new AsyncDisposableStack();
let postgres: EmbeddedPostgres;
let redis: RedisServer;
let objects: ObjectStoreServer;

beforeAll(async () => {
  stack.defer(() => removeDataFolder(elsewhere));
  const files = (name: string) => ({ logFile: elsewhere.logFile(name), pidFolder: elsewhere.pids });
  const password = 'elsewhere';
  [postgres, redis, objects] = await Promise.all([
    startEmbeddedPostgres({ folder: elsewhere.postgres, password, mode: 'fast', ...files('postgres') }),
    startRedisServer({ folder: elsewhere.inside('redis'), password, mode: 'fast', ...files('redis') }),
    startObjectStoreServer({
      ...{ folder: elsewhere.inside('objects'), accessKey: 'elsewhere', secretKey: 'elsewhere' },
      ...files('s3-server'),
    }),
  ]);
  for (const engine of [postgres, redis, objects]) stack.defer(engine.stop);
});
afterAll(() => stack.disposeAsync());

async function redisUsers(): Promise<string> {
  const client = new Redis(redis.url);
  return String(await client.acl('LIST').finally(() => client.disconnect()));
}

test('services run on engines that run elsewhere, with roles and users of their own, and stopping leaves these engines alone', async () => {
  const data = temporaryDataFolder();
  const { endpoint, region, accessKey, secretKey } = objects;
  const fleet = await startFleet({
    ...{ dataFolder: data.root, ports: 'free', mode: 'fast', services: ['internal-serving'] },
    engines: {
      outside: {
        databaseUrl: postgres.adminUrl,
        redisUrl: redis.url,
        objectStore: { endpoint, region, accessKey, secretKey, bucket: 'elsewhere' },
      },
    },
  });
  try {
    expect(fleet.services['internal-serving'].pid).toBeDefined();
    expect(fleet.objectStore).toEqual({ endpoint, region, accessKey, secretKey, bucket: 'elsewhere' });
    expect([existsSync(data.postgres), existsSync(data.inside('redis'))]).toEqual([false, false]);
    expect(() => fleet.engines.postgres.kill('SIGKILL')).toThrow('PostgreSQL runs elsewhere');
    const client = new pg.Client({ connectionString: fleet.databaseUrls['serving'] });
    await client.connect();
    const { rows } = await client.query('select current_user as role').finally(() => client.end());
    expect(rows).toEqual([{ role: 'longwave_serving' }]);
    expect(await redisUsers()).toMatch(/user internal-serving on/);
  } finally {
    await fleet.stop();
    removeDataFolder(data);
  }
  expect(await redisUsers()).toMatch(/user internal-serving on/);
  expect(postgres.child.isRunning()).toBe(true);
});
