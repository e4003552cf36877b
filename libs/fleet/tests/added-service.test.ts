import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createObjectStore } from '@longwave/object-store';
import { openChannel, readTls } from '@longwave/rpc';
import { ProbeServiceService } from '@longwave/rpc/probe';
import { services, type Manifest, type ServiceName } from '@longwave/services';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Apps } from '../src/apps.ts';
import { removeDataFolder, temporaryDataFolder } from '../src/data-folder.ts';
import { isAlive, type ProcessIdentity } from '../src/process-identity.ts';
import { openSecrets, type ServiceSecrets } from '../src/secrets.ts';
import { startFleet, startFleetOf, type Fleet } from '../src/start-fleet.ts';
import { workspaceRoot } from '../src/workspace-root.ts';

/** One entry and the app `apps/greeter` beside this file: nothing else knows this service. */
const withGreeter: Manifest<ServiceName | 'greeter'> = {
  ...services,
  greeter: {
    schema: 'greetings',
    grpc: true,
    http: { api: ['/greetings/v1'] },
    apis: [{ path: '/greetings/v1', name: 'Greetings API', purpose: 'says hello' }],
    calls: ['management'],
    secrets: ['PRINCIPAL_KEYS'],
    folders: { GREETER_FOLDER: 'greeter' },
    files: { GREETER_WORDS: 'libs/fleet/package.json' },
    redis: { keys: ['greeter:*'] },
    objects: { 'greetings/': ['read', 'write'] },
  },
};
const apps: Apps<ServiceName | 'greeter'> = {
  services: withGreeter,
  appFolder: (service) => path.join(import.meta.dirname, 'apps', service),
  filesFolder: () => workspaceRoot,
};

const data = temporaryDataFolder();
let fleet: Fleet<ServiceName | 'greeter'>;

beforeAll(async () => {
  const build = [path.join(workspaceRoot, 'tools/build.mjs'), 'src/main.ts'];
  const built = spawnSync(process.execPath, build, { cwd: apps.appFolder('greeter'), encoding: 'utf8' });
  expect(built).toMatchObject({ status: 0 });
  fleet = await startFleetOf(apps, { dataFolder: data.root, ports: 'free', services: ['greeter'], mode: 'fast' });
});
afterAll(async () => {
  await fleet?.stop();
  removeDataFolder(data);
});

const children = () =>
  readdirSync(data.pids).map((file) => JSON.parse(readFileSync(path.join(data.pids, file), 'utf8')) as ProcessIdentity);

/** The answer of Redis to a command of the added service. */
async function redisAnswer(redisUrl: string, password: string, command: string, ...args: readonly string[]) {
  const url = Object.assign(new URL(redisUrl), { username: 'greeter', password }).href;
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  return client
    .call(command, ...args)
    .then(() => 'OK')
    .catch((error: Error) => error.message.split(' ')[0])
    .finally(() => client.disconnect());
}

/** The answer of the object store to a PUT of the added service. */
async function put(store: Fleet['objectStore'], secrets: ServiceSecrets, key: string) {
  const { s3AccessKey: accessKey, s3SecretKey: secretKey } = secrets;
  await createObjectStore({ ...store, accessKey, secretKey }).put(key, Buffer.from(key), { contentType: 'text/plain' });
}

const greetingBy = async (caller: Parameters<typeof readTls>[0]) => {
  // The added name is none of those that the compiler knows.
  const channel = openChannel(fleet.addresses.greeter, 'greeter' as ServiceName, readTls(caller));
  return channel
    .client(ProbeServiceService)
    .probe({ storageKey: 'any' }, { deadlineMs: 5_000 })
    .finally(() => channel.close());
};

test('an added service is ready, with the login of its own schema, and its path answers at the public host', async () => {
  expect(fleet.services.greeter.pid).toBeDefined();
  const response = await fetch(`${fleet.urls.api}/greetings/v1/hello`);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ text: 'hello', role: 'longwave_greetings' });
  const frontPage = await (await fetch(`${fleet.urls.api}/`)).text();
  expect(frontPage).toContain('about their content, and the Greetings API says hello.');
  expect(frontPage).toContain('href="/greetings/v1/docs"');
});

test('an added service answers by gRPC under a certificate with its name, to the callers it names only', async () => {
  expect(await greetingBy(fleet.operator)).toMatchObject({ outcome: { value: { code: 'greeting' } } });
  const tls = (end: string) => data.inside(path.join('tls', end));
  const management = { ca: fleet.operator.ca, cert: tls('management.pem'), key: tls('management.key') };
  await expect(greetingBy(management)).rejects.toMatchObject({ code: 'permission_denied' });
});

test('an added service may do on Redis and with objects what its entry says, and nothing else', async () => {
  const secrets = openSecrets(data.inside('secrets'), withGreeter).services.greeter;
  const redis = (command: string, key: string) => redisAnswer(fleet.redisUrl, secrets.redisPassword, command, key);
  expect(await redis('GET', 'greeter:count')).toBe('OK');
  expect(await redis('GET', 'goal:li_1')).toBe('NOPERM');
  await createObjectStore(fleet.objectStore).ensureBucket();
  await put(fleet.objectStore, secrets, 'greetings/a');
  await expect(put(fleet.objectStore, secrets, 'plans/a')).rejects.toThrow();
});

test('a service that is taken out again leaves no process, path, Redis login or object key, and its data', async () => {
  const { greeter: secrets } = openSecrets(data.inside('secrets'), withGreeter).services;
  const running = children();
  expect(running.map(({ pid }) => pid)).toContain(fleet.services.greeter.pid);
  await fleet.stop();
  expect(running.filter(isAlive)).toEqual([]);

  await using without = await startFleet({ dataFolder: data.root, ports: 'free', services: [], mode: 'fast' });
  const response = await fetch(`${without.urls.api}/greetings/v1/hello`);
  expect(response.status).toBe(404);
  expect(await (await fetch(`${without.urls.api}/`)).text()).not.toContain('Greetings');
  expect(await redisAnswer(without.redisUrl, secrets.redisPassword, 'PING')).toBe('WRONGPASS');
  await expect(put(without.objectStore, secrets, 'greetings/a')).rejects.toThrow();
  expect(readFileSync(path.join(data.inside('secrets'), 'secrets.json'), 'utf8')).not.toContain('greet');
  const client = new pg.Client({ connectionString: without.adminDatabaseUrl });
  await client.connect();
  // Data stays until somebody decides otherwise.
  const { rows } = await client.query('SELECT text FROM greetings.greeting').finally(() => client.end());
  expect(rows).toEqual([{ text: 'hello' }]);
});
