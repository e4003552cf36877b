import { spawn } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { removeDataFolder, temporaryDataFolder, type DataFolder } from '../src/data-folder.ts';
import { findRunningFleet } from '../src/fleet-state.ts';
import { freePorts } from '../src/free-ports.ts';
import { isAlive, type ProcessIdentity } from '../src/process-identity.ts';
import { PortTaken, startFleet } from '../src/start-fleet.ts';

let data: DataFolder;
beforeEach(() => {
  data = temporaryDataFolder();
});
afterEach(() => removeDataFolder(data));

const start = () => startFleet({ dataFolder: data.root, ports: 'free', services: [] });

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

function children(): readonly ProcessIdentity[] {
  return readdirSync(data.pids).map(
    (file) => JSON.parse(readFileSync(path.join(data.pids, file), 'utf8')) as ProcessIdentity,
  );
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('a second start keeps the data of the first, and stopping leaves no process', async () => {
  const first = await start();
  await query(first.adminDatabaseUrl, 'CREATE TABLE public.kept AS SELECT 7 AS n');
  const running = children();
  expect(running.length).toBe(3);
  expect(findRunningFleet(data)?.urls).toEqual(first.urls);
  await first.stop();
  await first.stop();
  expect(running.filter(isAlive)).toEqual([]);
  expect(findRunningFleet(data)).toBeUndefined();
  await using second = await start();
  expect((await query(second.adminDatabaseUrl, 'SELECT n FROM public.kept')).rows).toEqual([{ n: 7 }]);
});

test('an engine that is killed comes back on its port with everything it had acknowledged, also when it is killed at once again', async () => {
  await using fleet = await start();
  const redis = async <T>(work: (client: Redis) => Promise<T>) => {
    const client = new Redis(fleet.redisUrl, { retryStrategy: () => null });
    client.on('error', () => undefined);
    return work(client).finally(() => client.disconnect());
  };
  await query(fleet.adminDatabaseUrl, 'CREATE TABLE public.kept AS SELECT 7 AS n');
  await redis((client) => client.set('kept', '7'));
  const { postgres, redis: redisEngine, objectStore } = fleet.engines;
  for (const round of [1, 2])
    for (const engine of [postgres, redisEngine, objectStore]) {
      engine.kill('SIGKILL');
      await until(() => engine.restarts === round);
    }
  expect((await query(fleet.adminDatabaseUrl, 'SELECT n FROM public.kept')).rows).toEqual([{ n: 7 }]);
  expect(await redis((client) => client.get('kept'))).toBe('7');
  expect((await fetch(fleet.objectStore.endpoint)).status).toBeLessThan(500);
  const running = children();
  await fleet.stop();
  expect(running.filter(isAlive)).toEqual([]);
});

test('killing the runner with SIGKILL leaves nothing that the next start does not end', async () => {
  const script = path.join(import.meta.dirname, 'fixture-runner.ts');
  const runner = spawn(process.execPath, [script, data.root], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  await new Promise((resolve) => runner.stdout.once('data', resolve));
  const orphans = children();
  runner.kill('SIGKILL');
  if (process.platform === 'linux') await until(() => orphans.every((child) => !isAlive(child)));
  await using next = await start();
  expect(orphans.filter(isAlive)).toEqual([]);
  expect((await query(next.adminDatabaseUrl, 'SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('a second runner on the same data is refused with the first one’s process', async () => {
  await using _first = await start();
  await expect(start()).rejects.toThrow(`process ${process.pid}`);
});

test('a taken port is refused by number and purpose before anything starts', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  const media = (blocker.address() as AddressInfo).port;
  const [base = 0, mcp = 0, api = 0, objectStore = 0] = await freePorts(4);
  await expect(
    startFleet({ dataFolder: data.root, ports: { base, mcp, api, media, objectStore }, services: [] }),
  ).rejects.toThrow(new PortTaken(media, 'feeds and audio'));
  expect(() => children()).toThrow();
  blocker.close();
});

test('PostgreSQL starts even where its user cannot enter the folder, and every secret is private', async () => {
  chmodSync(data.root, 0o700);
  await using fleet = await start();
  expect((await query(fleet.adminDatabaseUrl, 'SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  for (const file of [...readdirSync(data.inside('secrets')).map((name) => `secrets/${name}`), 'fleet.json'])
    expect(statSync(data.inside(file)).mode & 0o077).toBe(0);
});
