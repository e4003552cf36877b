import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createObjectStore } from '@longwave/object-store';
import { services, type ServiceName } from '@longwave/services';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import pg from 'pg';
import { dataFolder, removeDataFolder, temporaryDataFolder, type DataFolder } from '../src/data-folder.ts';
import { findRunningFleet } from '../src/fleet-state.ts';
import { chooseMetricsPorts, PortTaken, type PublicPorts } from '../src/fleet-ports.ts';
import { freePort, freePorts, isPortFree } from '../src/free-ports.ts';
import { isAlive, type ProcessIdentity } from '../src/process-identity.ts';
import { NotEnoughRoom } from '../src/room.ts';
import { openSecrets } from '../src/secrets.ts';
import { startFleet } from '../src/start-fleet.ts';

/** A data folder that was started once and stopped. */
const started = temporaryDataFolder();
afterAll(() => removeDataFolder(started));
beforeAll(async () => {
  const fleet = await startFleet({ dataFolder: started.root, ports: 'free', services: [], mode: 'fast' });
  await fleet.stop();
});

let data: DataFolder;
beforeEach(() => {
  data = temporaryDataFolder();
});
afterEach(() => removeDataFolder(data));

type Mode = 'durable' | 'fast';
const start = (mode: Mode = 'durable') => startFleet({ dataFolder: data.root, ports: 'free', services: [], mode });

/** Starts on a copy of data that is migrated. Engines wait for no disk where no test ends them before they have written. */
const startMigrated = (mode: Mode = 'fast') => {
  // Where PostgreSQL's user could not reach the folder, its database lies elsewhere, and is not copied.
  if (!existsSync(`${started.postgres}.location`)) spawnSync('cp', ['-a', `${started.root}/.`, data.root]);
  return start(mode);
};

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
  await using fleet = await startMigrated('durable');
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

test('a folder whose services shared secrets starts with its data, and no shared secret opens anything any more', async () => {
  const secretsFile = path.join(data.inside('secrets'), 'secrets.json');
  const first = await startMigrated();
  await query(first.adminDatabaseUrl, 'CREATE TABLE product.kept AS SELECT 7 AS n');
  const { services: _services, ...stored } = JSON.parse(readFileSync(secretsFile, 'utf8')) as Record<string, unknown>;
  const schemas = Object.keys(first.databaseUrls);
  for (const schema of schemas)
    await query(first.adminDatabaseUrl, `ALTER ROLE longwave_${schema} PASSWORD 'beginning-${schema}'`);
  await first.stop();
  writeFileSync(secretsFile, JSON.stringify({ ...stored, roles: 'beginning' }));

  await using second = await start('fast');
  const login = (url: string, change: object) => query(Object.assign(new URL(url), change).href, 'SELECT 7 AS n');
  for (const schema of schemas) {
    const url = second.databaseUrls[schema] ?? '';
    expect((await login(url, {})).rows).toEqual([{ n: 7 }]);
    await expect(login(url, { password: `beginning-${schema}` })).rejects.toThrow('password authentication failed');
  }
  expect((await query(second.databaseUrls['product'] ?? '', 'SELECT n FROM product.kept')).rows).toEqual([{ n: 7 }]);
  const redis = new Redis(Object.assign(new URL(first.redisUrl), { host: new URL(second.redisUrl).host }).href, {
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  await expect(redis.ping()).rejects.toThrow();
  redis.disconnect();
  const { accessKey, secretKey } = first.objectStore;
  const store = createObjectStore({ ...second.objectStore, accessKey, secretKey });
  await expect(store.find('any')).rejects.toThrow();
  expect(second.objectStore.accessKey).not.toBe(accessKey);
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

test('a second runner on the same data is told which process runs there and how to stop it', async () => {
  await using _first = await startMigrated();
  await expect(start('fast')).rejects.toThrow(
    `Longwave is already running on ${data.root} (process ${process.pid}). Stop it with Ctrl-C in its terminal, or with: kill -INT ${process.pid}`,
  );
});

test('a copied data folder never uses the database of the first, nor stops it', async () => {
  // As root PostgreSQL runs as another user, and where that one cannot enter the folder the database lies elsewhere.
  chmodSync(data.root, 0o700);
  const copy = temporaryDataFolder();
  const recopy = () => {
    rmSync(copy.root, { recursive: true });
    spawnSync('cp', ['-a', data.root, copy.root]);
  };
  const startCopy = () => startFleet({ dataFolder: copy.root, ports: 'free', services: [], mode: 'fast' });
  const first = await start('fast');
  await query(first.adminDatabaseUrl, 'CREATE TABLE public.kept AS SELECT 7 AS n');
  recopy();
  await expect(startCopy()).rejects.toThrow(`${copy.root} is a copy of ${data.root}`);
  expect(children().filter(isAlive)).toHaveLength(3);
  await first.stop();

  recopy();
  if (first.databaseFolder.startsWith(data.root)) {
    await using own = await startCopy();
    await query(own.adminDatabaseUrl, 'DROP TABLE public.kept');
  } else {
    await expect(startCopy()).rejects.toThrow(`whose database is in ${first.databaseFolder}`);
  }
  await using again = await start('fast');
  expect((await query(again.adminDatabaseUrl, 'SELECT n FROM public.kept')).rows).toEqual([{ n: 7 }]);
  rmSync(copy.root, { recursive: true });
});

test('a copied data folder that is adopted takes the database over, from a first folder that does not run', async () => {
  chmodSync(data.root, 0o700);
  const copy = dataFolder(`${data.root}-copy`);
  const startCopy = () => startFleet({ dataFolder: copy.root, ports: 'free', services: [], mode: 'fast', adopt: true });
  const first = await start('fast');
  const isInside = first.databaseFolder.startsWith(data.root);
  await query(first.adminDatabaseUrl, 'CREATE TABLE public.kept AS SELECT 7 AS n');
  await first.stop();
  spawnSync('cp', ['-a', data.root, copy.root]);
  if (!isInside) {
    await using _again = await start('fast');
    await expect(startCopy()).rejects.toThrow(`Longwave is already running on ${data.root}`);
  }
  const adopted = await startCopy();
  expect((await query(adopted.adminDatabaseUrl, 'SELECT n FROM public.kept')).rows).toEqual([{ n: 7 }]);
  await adopted.stop();
  // From now on the first folder is the copy.
  if (!isInside) await expect(start('fast')).rejects.toThrow(`${data.root} is a copy of ${copy.root}`);
  removeDataFolder(copy);
});

test('a data folder that was moved takes its database along', async () => {
  chmodSync(data.root, 0o700);
  const first = await start('fast');
  await query(first.adminDatabaseUrl, 'CREATE TABLE public.kept AS SELECT 7 AS n');
  await first.stop();
  const moved = dataFolder(`${data.root}-moved`);
  renameSync(data.root, moved.root);
  const second = await startFleet({ dataFolder: moved.root, ports: 'free', services: [], mode: 'fast' });
  expect((await query(second.adminDatabaseUrl, 'SELECT n FROM public.kept')).rows).toEqual([{ n: 7 }]);
  await second.stop();
  removeDataFolder(moved);
});

(process.platform === 'linux' ? test : test.skip)(
  'public ports are bound to the address that is wanted, all others to 127.0.0.1 alone, and an address of another machine is refused',
  async () => {
    const startAt = (listen: string, ports: PublicPorts | 'free') =>
      startFleet({ dataFolder: data.root, ports, services: [], mode: 'fast', listen });
    const [base = 0, mcp = 0, api = 0, media = 0, objectStore = 0] = await freePorts(5);
    const ports = { base, mcp, api, media, objectStore };
    await expect(startAt('203.0.113.1', ports)).rejects.toThrow('203.0.113.1 is no address of this machine');
    await using fleet = await startAt('127.0.0.2', ports);
    const answers = (address: string) =>
      fetch(address).then(
        () => true,
        () => false,
      );
    expect(fleet.objectStore.endpoint).toBe(`http://127.0.0.2:${objectStore}`);
    for (const port of [base, api, objectStore]) {
      expect(await answers(`http://127.0.0.2:${port}`)).toBe(true);
      expect(await answers(`http://127.0.0.1:${port}`)).toBe(false);
    }
    const postgres = new URL(fleet.adminDatabaseUrl);
    await expect(query(Object.assign(postgres, { hostname: '127.0.0.2' }).href, 'SELECT 1')).rejects.toThrow(
      'ECONNREFUSED',
    );
  },
);

/** The first of so many free ports in a row, below those that the system gives to others. */
async function freeRow(count: number): Promise<number> {
  for (;;) {
    const first = await freePort();
    const row = await Promise.all(Array.from({ length: count }, (_, at) => isPortFree(first + at)));
    if (row.every((isFree) => isFree)) return first;
  }
}

test('a taken port is refused by number and purpose before anything starts', async () => {
  await using blocker = createServer();
  const metricsPortBase = await freeRow(4);
  const media = metricsPortBase + 3;
  await new Promise<void>((resolve) => blocker.listen(media, '127.0.0.1', resolve));
  const [base = 0, mcp = 0, api = 0, objectStore = 0] = await freePorts(4);
  await expect(
    startFleet({ dataFolder: data.root, ports: { base, mcp, api, media, objectStore }, services: [] }),
  ).rejects.toThrow(new PortTaken(media, 'feeds and audio'));
  expect(() => children()).toThrow();
  await expect(chooseMetricsPorts(['a', 'b'], 2, metricsPortBase)).rejects.toThrow(
    new PortTaken(media, 'metrics of b', 'metrics-port-base'),
  );
  await blocker[Symbol.asyncDispose]();
  expect(await chooseMetricsPorts(['a', 'b'], 2, metricsPortBase)).toEqual({
    a: [media - 3, media - 2],
    b: [media - 1, media],
  });
});

test('with too little free disk space nothing is started, and the sentence says how much is missing where', async () => {
  const starting = startFleet({
    dataFolder: data.inside('new'),
    ports: 'free',
    services: [],
    roomNeededBytes: 2 ** 62,
  });
  await expect(starting).rejects.toThrow(NotEnoughRoom);
  await expect(starting).rejects.toThrow(
    /new has \d+ MB of free disk space, and Longwave needs 4398046511104 MB to start\. Free some space, or choose/,
  );
  expect(readdirSync(data.root)).toEqual([]);
});

test('PostgreSQL starts even where its user cannot enter the folder, every secret is private, and no service has the key to the objects of another', async () => {
  chmodSync(data.root, 0o700);
  await using fleet = await start();
  expect((await query(fleet.adminDatabaseUrl, 'SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  for (const file of [...readdirSync(data.inside('secrets')).map((name) => `secrets/${name}`), 'fleet.json'])
    expect(statSync(data.inside(file)).mode & 0o077).toBe(0);

  // Each service does with objects what is its own, with a key of its own.
  const { services: keys } = openSecrets(data.inside('secrets'), services);
  const storeOf = (service: ServiceName) => {
    const { s3AccessKey: accessKey, s3SecretKey: secretKey } = keys[service];
    return createObjectStore({ ...fleet.objectStore, accessKey, secretKey });
  };
  const put = (service: ServiceName, key: string) =>
    storeOf(service).put(key, Buffer.from(key), { contentType: 'text/plain' });
  const get = async (service: ServiceName, key: string) => (await storeOf(service).get(key)).destroy();
  await storeOf('management').ensureBucket();
  for (const key of ['uploads/a', 'plans/a', 'exports/a', 'bus/a']) await put('management', key);
  for (const key of ['media/a', 'artwork/a']) await put('encoder', key);
  await get('encoder', 'uploads/a');
  await get('internal-serving', 'plans/a');
  await put('internal-serving', 'decisions/a');
  await put('public-delivery', 'bindings/a');
  for (const key of ['media/a', 'uploads/a', 'artwork/a']) await get('public-delivery', key);
  for (const [service, key] of [
    ['management', 'media/a'],
    ['encoder', 'uploads/a'],
    ['internal-serving', 'plans/a'],
    ['management', 'decisions/a'],
    ['encoder', 'bindings/a'],
    ['public-delivery', 'media/a'],
    ['rest-gateway', 'media/a'],
  ] as const)
    await expect(put(service, key)).rejects.toThrow();
  for (const [service, key] of [
    ['encoder', 'exports/a'],
    ['internal-serving', 'media/a'],
    ['public-delivery', 'decisions/a'],
    ['public-delivery', 'bus/a'],
    ['auth-server', 'uploads/a'],
  ] as const)
    await expect(get(service, key)).rejects.toThrow();
});
