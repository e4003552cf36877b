import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  freePort,
  redisUserLine,
  removeDataFolder,
  startRedisServer,
  startTestDatabase,
  startTestObjectStore,
  startTestRedis,
  temporaryDataFolder,
  type TestDatabase,
} from '@longwave/fleet';
import { trustAuthority } from '@longwave/fleet/running';
import { createObjectStore, type ObjectStoreOptions } from '@longwave/object-store';
import { namesOf, services } from '@longwave/services';
import { bareEnvironment } from '@longwave/test-kit';
import { withPrograms } from '@longwave/test-kit/with-programs';
import pg from 'pg';
import type { Check } from '../src/checks/check.ts';
import { checkDatabase } from '../src/doctor/check-database.ts';
import { checkDependencies } from '../src/doctor/check-dependencies.ts';
import { checkTopic } from '../src/doctor/check-kafka.ts';
import { checkObjectStore, probeOf } from '../src/doctor/check-object-store.ts';
import { checkRedis } from '../src/doctor/check-redis.ts';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const data = temporaryDataFolder();
const running = new AsyncDisposableStack();
running.defer(() => removeDataFolder(data));

const password = randomBytes(12).toString('hex');
let database: TestDatabase;
let bucket: ObjectStoreOptions;
let durableRedis: string;

beforeAll(async () => {
  database = running.use(await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }));
  bucket = running.use(await startTestObjectStore());
  const redis = await startRedisServer({
    ...{ folder: data.inside('redis'), password, mode: 'durable', maxMemoryBytes: 64 * 1024 ** 2 },
    users: [redisUserLine('management', services.management.redis ?? {}, password)],
    ...{ logFile: data.logFile('redis'), pidFolder: data.pids },
  });
  running.defer(redis.stop);
  durableRedis = `redis://management:${password}@127.0.0.1:${redis.port}`;
});
afterAll(() => running.disposeAsync());

const byName = (checks: readonly Check[]) => Object.fromEntries(checks.map((check) => [check.name, check]));

function doctor(variables: Readonly<Record<string, string>>, ...args: string[]) {
  const file = path.join(data.root, 'service.env');
  const lines = Object.entries(variables).map(([name, value]) => `${name}="${value}"\n`);
  writeFileSync(file, `# of a service\n${lines.join('')}`);
  return spawnSync(process.execPath, [script, 'doctor', '--environment', file, ...args], {
    encoding: 'utf8',
    env: { ...bareEnvironment, DATABASE_URL: 'postgresql://of-no-interest.invalid/x' },
  });
}

const bucketVariables = () => ({
  S3_ENDPOINT: bucket.endpoint,
  S3_REGION: bucket.region,
  S3_BUCKET: bucket.bucket,
  S3_ACCESS_KEY: bucket.accessKey,
  S3_SECRET_KEY: bucket.secretKey,
});

test('a service whose servers are as they must be is well, and nothing of the look stays in its bucket', async () => {
  const store = createObjectStore(bucket);
  await store.ensureBucket();
  const secrets = path.join(data.root, 'secrets.json');
  const { S3_SECRET_KEY, ...variables } = bucketVariables();
  writeFileSync(secrets, JSON.stringify({ S3_SECRET_KEY, REDIS_URL: durableRedis }));
  const { status, stdout } = doctor({ DATABASE_URL: database.url, SECRETS_FILE: secrets, ...variables });
  expect(stdout).not.toMatch(/✗|of-no-interest/);
  expect(stdout).toMatch(/✓ PostgreSQL +version \d+\S*, as role longwave_product\n/);
  expect(stdout).toMatch(/✓ schema product +is there/);
  expect(stdout).toMatch(/✓ login +version \d+\S*, as user management\n/);
  for (const operation of ['get', 'list', 'delete']) expect(stdout).toMatch(new RegExp(`✓ ${operation} +allowed\n`));
  expect(stdout).not.toContain(password);
  expect(status).toBe(0);
  for await (const left of store.list('')) throw new Error(`${left.key} stayed`);
});

test('schemas that are not there and migrations that are not applied are named, each with its command', async () => {
  const whole = byName(await checkDatabase(database.adminUrl));
  expect(whole['schema product']).toMatchObject({
    well: true,
    says: expect.stringMatching(/^all \d+ migrations of this release are applied$/),
  });
  expect(whole['schema identity']).toMatchObject({
    well: false,
    says: 'is not there',
    advice: expect.stringContaining('npm run migrate -- deploy'),
  });
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `delete from product._prisma_migrations where migration_name = (select max(migration_name) from product._prisma_migrations)
     returning migration_name as name`,
  );
  await client.end();
  expect(byName(await checkDatabase(database.adminUrl))['schema product']).toMatchObject({
    well: false,
    says: expect.stringMatching(`^1 of \\d+ migrations are not applied, the first ${rows[0]!.name}$`),
    advice: 'Apply them before the services start: npm run migrate -- deploy',
  });
});

test('a schema without migrations, and a refused login of PostgreSQL, are named', async () => {
  await using empty = await startTestDatabase({ schema: 'serving' });
  expect(byName(await checkDatabase(empty.url))['schema serving']).toMatchObject({
    well: false,
    says: 'has no migrations yet',
  });
  const wrong = Object.assign(new URL(empty.url), { password: 'wrong' }).href;
  expect(await checkDatabase(wrong)).toEqual([
    expect.objectContaining({ well: false, says: expect.stringContaining('password authentication failed') }),
  ]);
});

test('a Redis that keeps no log of its writes is not well, and one that evicts nothing is', async () => {
  await using redis = await startTestRedis();
  const found = byName(await checkRedis(redis.url));
  expect(found['login']).toMatchObject({ well: true, says: expect.stringMatching(/^version \d+/) });
  expect(found['appendonly']).toMatchObject({ well: false, says: 'no' });
  expect(found['appendfsync']).toMatchObject({ well: false, says: 'everysec' });
  expect(found['maxmemory-policy']).toMatchObject({ well: true, says: 'noeviction' });
});

test('what the login of a service may not read of Redis is not known; as the operator it is well', async () => {
  expect(byName(await checkRedis(durableRedis))['appendfsync']).toMatchObject({
    well: true,
    says: 'not known: this login may not read it. It must be always',
  });
  const operator = Object.assign(new URL(durableRedis), { username: '' }).href;
  expect(byName(await checkRedis(operator))['appendfsync']).toMatchObject({ well: true, says: 'always' });
});

test('a refused login of Redis is named, and so is one that nothing answers', async () => {
  const wrong = Object.assign(new URL(durableRedis), { password: 'wrong' }).href;
  expect(await checkRedis(wrong)).toEqual([
    expect.objectContaining({ well: false, says: expect.stringContaining('WRONGPASS') }),
  ]);
  expect(await checkRedis(`redis://127.0.0.1:${await freePort()}`)).toEqual([
    expect.objectContaining({ well: false, says: expect.stringContaining('ECONNREFUSED') }),
  ]);
});

test('a bucket that is missing, a wrong key and a store that does not answer each have their advice', async () => {
  expect(await checkObjectStore({ ...bucket, bucket: 'not-there' }, undefined)).toEqual([
    expect.objectContaining({ well: false, advice: expect.stringContaining('check S3_BUCKET') }),
  ]);
  expect(await checkObjectStore({ ...bucket, secretKey: 'wrong' }, undefined)).toEqual([
    expect.objectContaining({ well: false, advice: expect.stringContaining('Check S3_SECRET_KEY') }),
  ]);
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  expect(await checkObjectStore({ ...bucket, endpoint: nowhere }, undefined)).toEqual([
    expect.objectContaining({ well: false, advice: expect.stringContaining('Check S3_ENDPOINT') }),
  ]);
});

test('a store that pages of the console may use is well; one that does not let them is named with what to allow', async () => {
  const store = createObjectStore(bucket);
  await store.ensureBucket();
  const well = byName(await checkObjectStore(bucket, undefined, 'https://pod.example/'));
  expect(well['put by a page']).toMatchObject({ well: true });
  expect(well['delete']).toMatchObject({ well: true });

  // The same store, behind what lets no page in.
  const upstream = new URL(bucket.endpoint);
  const proxy = createServer((request, response) => {
    const { method, url, headers } = request;
    if (method === 'OPTIONS') return void response.writeHead(403).end();
    const onward = ask({ host: upstream.hostname, port: upstream.port, method, path: url, headers });
    onward.once('response', (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers)));
    request.pipe(onward);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  await using _ = { [Symbol.asyncDispose]: async () => void proxy.close() };
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const refused = byName(
    await checkObjectStore({ ...bucket, publicEndpoint: endpoint }, undefined, 'https://pod.example'),
  );
  expect(refused['put by a page']).toMatchObject({
    ...{ well: false, says: 'pages of https://pod.example may not put files there' },
    advice: expect.stringContaining('CORS'),
  });
});

test('of the object store, a service is asked for what the manifest permits it, where it may write', () => {
  for (const service of namesOf(services).filter((each) => services[each].objects)) {
    const { prefix, rights } = probeOf(service)!;
    expect(rights).toContain('write');
    expect(services[service].objects![prefix]).toEqual(rights);
  }
  expect(probeOf('public-delivery')).toEqual({ prefix: 'bindings/', rights: ['write'] });
  expect(probeOf('rest-gateway')).toBeUndefined();
});

test('each broker of Kafka that does not answer is named', async () => {
  const brokers = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const found = byName(await checkDependencies({ KAFKA_BROKERS: brokers.join(',') }));
  for (const broker of brokers)
    expect(found[broker]).toMatchObject({
      ...{ part: 'Kafka', well: false, says: expect.stringContaining('ECONNREFUSED') },
      advice: expect.stringContaining('advertised.listeners'),
    });
});

withPrograms('TEST_KAFKA_LOGIN_BROKERS', 'TEST_KAFKA_CA')(
  'a Kafka with TLS and a login is looked at with these, and a wrong login is told',
  async () => {
    const { TEST_KAFKA_LOGIN_BROKERS: brokers = '', TEST_KAFKA_CA: authority = '' } = process.env;
    trustAuthority(authority);
    const variables = {
      ...{ KAFKA_BROKERS: brokers, KAFKA_TLS: 'true', KAFKA_SASL_MECHANISM: 'scram-sha-512' },
      ...{ KAFKA_USERNAME: process.env['TEST_KAFKA_USERNAME'], KAFKA_PASSWORD: process.env['TEST_KAFKA_PASSWORD'] },
    };
    expect(byName(await checkDependencies(variables))).toMatchObject({
      [brokers]: { well: true, says: 'answers' },
      brokers: { well: false, says: expect.stringContaining('1 in the cluster') },
    });
    const refused = byName(await checkDependencies({ ...variables, KAFKA_PASSWORD: 'another' }))[brokers];
    expect(refused).toMatchObject({ well: false, says: expect.stringContaining('SASL') });
    const halved = await checkDependencies({ ...variables, KAFKA_USERNAME: '' });
    expect(halved).toEqual([expect.objectContaining({ part: 'variables', name: 'KAFKA_USERNAME', well: false })]);
  },
);

test('a topic is well with copies that keep up, and before services made it', () => {
  const topic = (replicas: readonly number[], isr: readonly number[]) => ({
    name: 'product.events',
    partitions: [0, 1].map((partitionId) => ({
      ...{ partitionErrorCode: 0, partitionId, leader: 1 },
      ...{ replicas: [...replicas], isr: partitionId === 0 ? [...replicas] : [...isr] },
    })),
  });
  expect(checkTopic('product.events', undefined)).toMatchObject({ well: true });
  expect(checkTopic('product.events', topic([1, 2, 3], [1, 2, 3]))).toMatchObject({
    well: true,
    says: '2 partitions, copies of each: 3',
  });
  expect(checkTopic('product.events', topic([1], [1]))).toMatchObject({ well: false });
  expect(checkTopic('product.events', topic([1, 2, 3], [1]))).toMatchObject({
    well: false,
    says: expect.stringContaining('In 1 partitions, copies are behind'),
  });
});

test('variables that are wrong or incomplete are named without their values, and an empty file is refused', () => {
  const { status, stdout } = doctor({ REDIS_URL: `http://:${password}@redis`, S3_ENDPOINT: 'https://s3.example/path' });
  expect(status).toBe(1);
  for (const name of ['REDIS_URL', 'S3_ENDPOINT', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'])
    expect(stdout).toMatch(new RegExp(`✗ ${name} `));
  expect(stdout).not.toContain(password);
  expect(doctor({})).toMatchObject({ status: 1, stderr: expect.stringContaining('has none of DATABASE_URL') });
});

test('the file of a service and the settings of this machine are not looked at together', () => {
  expect(doctor({}, '--config', 'settings.yaml')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--environment is about a service elsewhere'),
  });
});
