import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { removeDataFolder, temporaryDataFolder } from './data-folder.ts';
import { startRedisServer } from './redis-server.ts';

export interface TestRedis extends AsyncDisposable {
  /** An empty logical database; channels of PUBLISH are shared with other tests of the same server. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Logical databases of a shared test server; database 0 hands out the others. */
export const sharedRedisDatabases = 512;

async function freshDatabase(serverUrl: string): Promise<TestRedis> {
  const redis = new Redis(serverUrl);
  const taken = await redis.incr('longwave:test:databases');
  const index = 1 + (taken % (sharedRedisDatabases - 1));
  await redis.select(index);
  await redis.flushdb();
  const stop = async () => {
    if (redis.status === 'end') return;
    await redis.flushdb();
    await redis.quit();
  };
  return { url: `${serverUrl.replace(/\/\d*$/, '')}/${index}`, stop, [Symbol.asyncDispose]: stop };
}

/** An empty real Redis: a database of the test run's server (`TEST_REDIS_URL`), or a server of our own. */
export async function startTestRedis(): Promise<TestRedis> {
  const running = process.env['TEST_REDIS_URL'];
  if (running) return freshDatabase(running);
  const folder = temporaryDataFolder();
  const engine = await startRedisServer({
    folder: folder.inside('redis'),
    password: randomBytes(12).toString('hex'),
    mode: 'fast',
    logFile: folder.logFile('redis'),
    pidFolder: folder.pids,
  });
  const stop = async () => {
    await engine.stop();
    removeDataFolder(folder);
  };
  return { url: engine.url, stop, [Symbol.asyncDispose]: stop };
}
