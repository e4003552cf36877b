import { hash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { provisionOwners, sealMigrationHistory, type SchemaOwner } from '@longwave/postgres';
import pg from 'pg';
import { removeDataFolder, temporaryDataFolder } from './data-folder.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { listMigrations } from './list-migrations.ts';
import { migrateSchema } from './migrate-schema.ts';
import { workspaceRoot } from './workspace-root.ts';

export interface TestDatabase extends AsyncDisposable {
  /** As the service's own role: rows of its schema and nothing else. */
  readonly url: string;
  /** As superuser, for what only a migration or an operator does. */
  readonly adminUrl: string;
  /** Vacuums and analyzes, as the server does by itself once tables have grown. The role of a service may not. */
  readonly vacuum: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Server {
  readonly adminUrl: string;
  /** Other processes use it too, so migrated templates are kept. */
  readonly shared: boolean;
  readonly release: () => Promise<void>;
}

/** The server of the test run (`TEST_DATABASE_ADMIN_URL`), or one of our own for as long as it is used. */
async function server(): Promise<Server> {
  const running = process.env['TEST_DATABASE_ADMIN_URL'];
  if (running) return { adminUrl: running, shared: true, release: async () => undefined };
  const folder = temporaryDataFolder();
  const engine = await startEmbeddedPostgres({
    folder: folder.postgres,
    password: randomBytes(12).toString('hex'),
    mode: 'fast',
    logFile: folder.logFile('postgres'),
    pidFolder: folder.pids,
  });
  return {
    adminUrl: engine.adminUrl,
    shared: false,
    release: async () => {
      await engine.stop();
      removeDataFolder(folder);
    },
  };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const run = (url: string, sql: string) => withClient(url, (client) => client.query(sql));

const at = (url: string, change: Partial<Pick<URL, 'host' | 'pathname' | 'username' | 'password' | 'search'>>) =>
  Object.assign(new URL(url), change).href;

/** A new database whose schema has its owner. @returns its address as superuser */
async function createDatabase(serverUrl: string, name: string, template: string, owner: SchemaOwner): Promise<string> {
  await run(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const adminUrl = at(serverUrl, { pathname: `/${name}` });
  await provisionOwners(adminUrl, [owner]);
  return adminUrl;
}

async function migrate(adminUrl: string, owner: SchemaOwner, prismaFolder: string): Promise<void> {
  await migrateSchema(adminUrl, owner.schema, prismaFolder);
  await sealMigrationHistory(adminUrl, [owner]);
}

/** A database with the migrated schema to copy from, made at the first request: copying takes a tenth of the time of migrating. */
function templateOf(serverUrl: string, owner: SchemaOwner, prismaFolder: string): Promise<string> {
  const name = `template_${hash('sha256', JSON.stringify([owner.schema, listMigrations(prismaFolder)])).slice(0, 32)}`;
  return withClient(serverUrl, async (client) => {
    // Held until this connection ends, so that the others wait for the first.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return name;
    const making = `${name}_${randomBytes(4).toString('hex')}`;
    await migrate(await createDatabase(serverUrl, making, 'template0', owner), owner, prismaFolder);
    await client.query(`ALTER DATABASE ${making} RENAME TO ${name}`);
    return name;
  });
}

/**
 * A fresh database with one owner's schema, migrated, on a real PostgreSQL.
 * @param migrations Prisma folder relative to the repository ("apps/management/prisma"); left out: an empty schema
 */
export async function startTestDatabase(options: {
  readonly schema: string;
  readonly migrations?: string;
}): Promise<TestDatabase> {
  const { adminUrl: serverUrl, shared, release } = await server();
  const database = `test_${randomBytes(8).toString('hex')}`;
  const owner = { schema: options.schema, role: `longwave_${options.schema}`, password: 'test-only' };
  const prismaFolder = options.migrations && path.resolve(workspaceRoot, options.migrations);
  const stop = async () => {
    await run(serverUrl, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).finally(release);
  };
  try {
    const template = shared && prismaFolder ? await templateOf(serverUrl, owner, prismaFolder) : undefined;
    const adminUrl = await createDatabase(serverUrl, database, template ?? 'template0', owner);
    if (prismaFolder && !template) await migrate(adminUrl, owner, prismaFolder);
    // Beside other test files a server may take its time to begin a session.
    const direct = at(adminUrl, { username: owner.role, password: owner.password, search: 'connect_timeout=60' });
    // host:port of a pooler in front of the server, to run the tests of a service through it.
    const pooler = process.env['TEST_DATABASE_POOLER'];
    const url = pooler === undefined ? direct : at(direct, { host: pooler });
    const vacuum = async () => void (await run(adminUrl, 'VACUUM ANALYZE'));
    return { url, adminUrl, vacuum, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}
