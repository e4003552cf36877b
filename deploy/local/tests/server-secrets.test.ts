import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  freePort,
  startChild,
  startTestDatabase,
  temporaryDataFolder,
  removeDataFolder,
  workspaceRoot,
} from '@longwave/fleet';
import { createObjectStore } from '@longwave/object-store';
import { namesOf, services } from '@longwave/services';
import { until } from '@longwave/test-kit';
import { withPrograms } from '@longwave/test-kit/with-programs';
import { Redis } from 'ioredis';
import pg from 'pg';
// eslint-disable-next-line @nx/enforce-module-boundaries -- tools are programs of the repository, no project with a name
import { startForeignS3 } from '../../../tools/foreign-s3.mjs';
import { writeServerSecrets } from '../server-secrets.ts';

const names = namesOf(services);
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-server-secrets-'));
const data = temporaryDataFolder();
beforeAll(() => writeServerSecrets(folder, new Date()));
afterAll(() => {
  rmSync(folder, { recursive: true });
  removeDataFolder(data);
});

const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
const readAll = () =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name !== 'kept')
      .map((name) => [name, read(name)]),
  );
const loginOf = (name: string) => parseEnv(read(`${name}.env`)) as Record<string, string>;

test('a second run changes nothing, near the end of the certificates it makes new ones, and no one else may read the files', async () => {
  const first = readAll();
  await writeServerSecrets(folder, new Date());
  expect(readAll()).toEqual(first);
  const later = new Date(Date.now() + 80 * 86_400_000);
  await writeServerSecrets(folder, later);
  const renewed = Object.entries(readAll()).filter(([name, text]) => text !== first[name]);
  expect(renewed.map(([name]) => name).toSorted()).toEqual(
    names.flatMap((name) => [`${name}.key`, `${name}.pem`]).toSorted(),
  );
  for (const name of Object.keys(first))
    expect([name, statSync(path.join(folder, name)).mode & 0o777]).toEqual([name, 0o400]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('the mail server that an operator has written into its file stays', async () => {
  writeFileSync(path.join(folder, 'mail.env'), 'MAIL_URL=smtps://user:password@mail.example\n');
  await writeServerSecrets(folder, new Date());
  expect(read('mail.env')).toBe('MAIL_URL=smtps://user:password@mail.example\n');
});

test('Redis keeps every acknowledged write by that configuration, lets each service in by its login, and the health check may only ask', async () => {
  const port = await freePort();
  const redisFolder = mkdtempSync(path.join(folder, 'kept/redis-'));
  const configuration = path.join(data.inside('redis.conf'));
  writeFileSync(configuration, read('redis.conf').replace('dir "/data"', `dir "${redisFolder}"`), { mode: 0o600 });
  const options = ['--port', String(port), '--bind', '127.0.0.1'];
  const server = await startChild({
    ...{ name: 'redis', command: 'redis-server', args: [configuration, ...options], env: {} },
    ...{ logFile: data.logFile('redis'), pidFolder: data.pids, stopSignal: 'SIGTERM' },
  });
  /** The answer, or how it is refused. */
  const ask = async (url: string, ...command: readonly string[]) => {
    const client = new Redis(url.replace('redis:6379', `127.0.0.1:${port}`), {
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
    });
    client.on('error', () => undefined);
    try {
      return String(await client.call(command[0]!, ...command.slice(1)));
    } catch (error) {
      return (error as Error).message.split(' ')[0];
    } finally {
      client.disconnect();
    }
  };
  try {
    // As the health check of compose.yaml asks.
    const ping = ['--no-auth-warning', '--user', 'health', '--pass', 'none', 'ping'];
    await until('Redis', () => {
      const { stdout } = spawnSync('redis-cli', ['-p', String(port), ...ping], { encoding: 'utf8' });
      return stdout === 'PONG\n';
    });
    const password = /^requirepass (\w+)$/m.exec(read('redis.conf'))![1];
    const operator = `redis://:${password}@redis:6379`;
    expect(await ask(operator, 'CONFIG', 'GET', 'append*')).toMatch(
      /appendfsync,always.*appendonly,yes|appendonly,yes.*appendfsync,always/,
    );
    expect(await ask(operator, 'CONFIG', 'GET', 'maxmemory-policy')).toBe('maxmemory-policy,noeviction');
    for (const name of names.filter((each) => services[each].redis))
      expect([name, await ask(loginOf(name)['REDIS_URL']!, 'PING')]).toEqual([name, 'PONG']);
    expect(await ask('redis://health:none@redis:6379', 'GET', 'x')).toBe('NOPERM');
    expect(await ask('redis://redis:6379', 'PING')).toBe('NOAUTH');
  } finally {
    await server.stop();
  }
});

withPrograms('TEST_FOREIGN_S3_ENDPOINT')(
  'the engines are prepared by one program: roles log in to their own schema, and keys do in the bucket what the manifest says and no more',
  async () => {
    const s3 = await startForeignS3({ accounts: JSON.parse(read('objects-users.json')) as object });
    if ('unavailable' in s3) throw new Error(s3.unavailable);
    await using database = await startTestDatabase({ schema: 'provisioned' });
    try {
      // Roles belong to the whole server, which other tests use.
      const prefix = `p${randomBytes(4).toString('hex')}_`;
      const wanted = JSON.parse(read('provision.json').replaceAll('longwave_', prefix)) as {
        database: { adminUrl: string; owners: { schema: string; role: string; password: string }[] };
        objectStore: { access: Parameters<typeof createObjectStore>[0] };
      };
      wanted.database.adminUrl = database.adminUrl;
      wanted.objectStore.access = { ...wanted.objectStore.access, ...s3 };
      const file = data.inside('provision.json');
      writeFileSync(file, JSON.stringify(wanted), { mode: 0o600 });
      for (const _twice of [1, 2])
        expect(
          execFileSync(process.execPath, [path.join(workspaceRoot, 'tools/provision.mjs'), file], { encoding: 'utf8' }),
        ).toBe('prepared identity, product, serving, audience, exchange, delivery and the bucket longwave\n');

      for (const { schema, role: username, password } of wanted.database.owners) {
        const client = new pg.Client({
          connectionString: Object.assign(new URL(database.adminUrl), { username, password }).href,
        });
        await client.connect();
        const { rows } = await client.query(
          `select array_agg(nspname) as usable from pg_namespace where nspname !~ '^(pg_|information_schema)' and has_schema_privilege(nspname, 'usage')`,
        );
        await client.end();
        expect([schema, rows]).toEqual([schema, [{ usable: `{${schema}}` }]]);
      }

      const { bucket, region } = wanted.objectStore.access;
      const root = createObjectStore(wanted.objectStore.access);
      const prefixes = [
        'media/',
        'artwork/',
        'bindings/',
        'bus/',
        'decisions/',
        'exports/',
        'imports/',
        'plans/',
        'uploads/',
      ];
      for (const at of prefixes)
        await root.put(`${at}there`, Buffer.from('x'), { contentType: 'text/plain', sizeBytes: 1 });
      for (const name of names) {
        const { objects: rights } = services[name];
        if (!rights) continue;
        const { S3_ACCESS_KEY: accessKey = '', S3_SECRET_KEY: secretKey = '' } = loginOf(name);
        const store = createObjectStore({ endpoint: s3.endpoint, region, bucket, accessKey, secretKey });
        const may = (work: Promise<unknown>) =>
          work.then(
            () => true,
            () => false,
          );
        for (const at of prefixes) {
          const longest = Object.keys(rights)
            .filter((each) => at.startsWith(each))
            .sort((a, b) => b.length - a.length)[0];
          const own = longest === undefined ? [] : rights[longest]!;
          expect([name, at, 'read', await may(store.find(`${at}there`))]).toEqual([
            name,
            at,
            'read',
            own.includes('read'),
          ]);
          const put = store.put(`${at}${name}`, Buffer.from('x'), { contentType: 'text/plain', sizeBytes: 1 });
          expect([name, at, 'write', await may(put)]).toEqual([name, at, 'write', own.includes('write')]);
        }
        expect([name, await may(store.ensureBucket())]).toEqual([name, Object.values(rights).flat().includes('list')]);
      }
    } finally {
      await s3.stop();
    }
  },
);
