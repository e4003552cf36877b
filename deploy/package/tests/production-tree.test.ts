import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  awayAddresses,
  developmentCa,
  freePort,
  startTestDatabase,
  startTestRedis,
  workspaceRoot,
} from '@longwave/fleet';
import { provisionOwners } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import { makeProductionTree } from '../production-tree.ts';

const out = mkdtempSync(path.join(tmpdir(), 'longwave-package-'));
const gateway = path.join(out, 'rest-gateway');
const sink = path.join(out, 'analytics-sink');
beforeAll(async () => {
  await makeProductionTree('rest-gateway', out);
  await makeProductionTree('analytics-sink', out);
});
afterAll(() => rmSync(out, { recursive: true }));

const readJson = <T>(...file: readonly string[]) => JSON.parse(readFileSync(path.join(...file), 'utf8')) as T;

/** Fails where the service is not up yet. */
const ask = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

test('a packaged service starts with Node alone, outside of the repository, and answers on its ports', async () => {
  await using redis = await startTestRedis();
  const tls = (await developmentCa(path.join(out, 'tls'), ['rest-gateway'], new Date()))['rest-gateway'];
  const [health, http] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const service = spawn(process.execPath, ['.'], {
    cwd: gateway,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...{ NODE_ENV: 'production', LOG_LEVEL: 'warn', HEALTH_LISTEN: health, HTTP_LISTEN: http, REDIS_URL: redis.url },
      ...{ TLS_CA: tls.ca, TLS_CERT: tls.cert, TLS_KEY: tls.key },
      ...{ BASE_URL: `http://${http}`, MEDIA_URL: 'http://127.0.0.1:1' },
      ...awayAddresses('rest-gateway'),
    },
  });
  const ended = once(service, 'exit');
  let complaint = '';
  service.stderr.on('data', (text) => (complaint += text));
  try {
    const alive = await until(async () => {
      if (service.exitCode !== null) throw new Error(`it ended: ${complaint}`);
      return ask(`http://${health}/healthz`).catch(() => undefined);
    });
    expect(alive).toEqual({ status: 200, text: '{"status":"alive"}' });
    expect((await ask(`http://${http}/api-docs/swagger-ui.css`)).status).toBe(200);
    expect((await ask(`http://${http}/api/v1/podcasts`)).status).toBe(401);
  } finally {
    service.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
});

test('a tree has its bundle, the packages beside it at the versions of the lock file, and nothing that only builds or tests', () => {
  const { packages } = readJson<{ packages: Record<string, { version?: string; dev?: boolean }> }>(
    workspaceRoot,
    'package-lock.json',
  );
  const { dependencies, main } = readJson<{ dependencies: Record<string, string>; main: string }>(
    gateway,
    'package.json',
  );
  expect(existsSync(path.join(gateway, main))).toBe(true);
  const manifests = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: gateway });
  expect(manifests.length).toBeGreaterThan(20);
  for (const manifest of manifests) {
    const { version, dev } = packages[path.dirname(manifest)] ?? {};
    expect([manifest, readJson<{ version: string }>(gateway, manifest).version, dev]).toEqual([
      manifest,
      version,
      undefined,
    ]);
  }
  for (const [name, version] of Object.entries(dependencies))
    expect([name, version]).toEqual([name, packages[`node_modules/${name}`]?.version]);
  expect(globSync('**/*.{ts,test.js}', { cwd: gateway })).toEqual([]);
  expect(existsSync(path.join(gateway, 'apps/rest-gateway/prisma'))).toBe(false);
  expect(existsSync(path.join(sink, 'libs/audience/data'))).toBe(true);
});

test('the migrations of a packaged service run as a role of its schema alone, and hand the rows to the service', async () => {
  await using database = await startTestDatabase({ schema: 'packaged' });
  const [role, migrator] = ['service', 'migration'].map((kind) => `package_${kind}_${randomBytes(6).toString('hex')}`);
  const password = 'test-only';
  await provisionOwners(database.adminUrl, [
    { schema: 'audience', role: role!, password, migrator: { role: migrator!, password } },
  ]);
  const as = (username: string) => Object.assign(new URL(database.adminUrl), { username, password }).href;
  const administrator = new pg.Client({ connectionString: database.adminUrl });
  await administrator.connect();
  try {
    const migrate = () =>
      spawnSync(
        process.execPath,
        [
          'tools/migrate.js',
          'deploy',
          '--dir',
          'apps/analytics-sink/prisma',
          '--schema',
          'audience',
          '--service-role',
          role!,
        ],
        { cwd: sink, encoding: 'utf8', env: { DATABASE_URL: as(migrator!) } },
      );
    expect(migrate()).toMatchObject({ status: 0, stdout: expect.stringContaining('applied'), stderr: '' });
    expect(migrate()).toMatchObject({ status: 0, stdout: 'nothing to apply\n', stderr: '' });

    const { rows } = await administrator.query<{ owner: string }>(
      `SELECT DISTINCT tableowner AS owner FROM pg_tables WHERE schemaname = 'audience'`,
    );
    expect(rows).toEqual([{ owner: migrator }]);
    const service = new pg.Client({ connectionString: as(role!), options: '-c search_path=audience' });
    await service.connect();
    try {
      await service.query('SELECT count(*) FROM user_agent');
      for (const refused of ['SELECT * FROM _prisma_migrations', 'CREATE TABLE own (id int)', 'DROP TABLE user_agent'])
        await expect(service.query(refused)).rejects.toThrow(/permission denied|must be owner/);
    } finally {
      await service.end();
    }
    const other = new pg.Client({ connectionString: as(migrator!) });
    await other.connect();
    try {
      await expect(other.query('CREATE TABLE packaged.own (id int)')).rejects.toThrow('permission denied');
      await expect(other.query('CREATE TABLE public.own (id int)')).rejects.toThrow('permission denied');
    } finally {
      await other.end();
    }
  } finally {
    // Roles outlive the database.
    await administrator.query(`DROP OWNED BY ${role}, ${migrator} CASCADE`);
    await administrator.query(`DROP ROLE ${role}, ${migrator}`);
    await administrator.end();
  }
});

test('a folder that is no package of the service is left as it is', async () => {
  const folder = path.join(out, 'elsewhere');
  mkdirSync(path.join(folder, 'encoder'), { recursive: true });
  writeFileSync(path.join(folder, 'encoder/notes.txt'), 'mine');
  await expect(makeProductionTree('encoder', folder)).rejects.toThrow('--out FOLDER');
  expect(readFileSync(path.join(folder, 'encoder/notes.txt'), 'utf8')).toBe('mine');
});

test('a service that there is not is named, with those that there are', () => {
  const program = path.join(workspaceRoot, 'deploy/package/package.ts');
  const { status, stderr } = spawnSync(process.execPath, [program, 'gateway'], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain('There is no service “gateway”. The services are auth-server,');
});
