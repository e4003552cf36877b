import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { provisionOwners, sealMigrationHistory } from '@longwave/postgres';
import pg from 'pg';
import { removeDataFolder, temporaryDataFolder } from './data-folder.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { migrateSchema } from './migrate-schema.ts';
import { workspaceRoot } from './workspace-root.ts';

export interface TestDatabase extends AsyncDisposable {
  /** As the service's own role: rows of its schema and nothing else. */
  readonly url: string;
  /** As superuser, for what only a migration or an operator does. */
  readonly adminUrl: string;
  readonly stop: () => Promise<void>;
}

interface Server {
  readonly adminUrl: string;
  readonly release: () => Promise<void>;
}

/** The server of the test run (`TEST_DATABASE_ADMIN_URL`), or one of our own for as long as it is used. */
async function server(): Promise<Server> {
  const running = process.env['TEST_DATABASE_ADMIN_URL'];
  if (running) return { adminUrl: running, release: async () => undefined };
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
    release: async () => {
      await engine.stop();
      removeDataFolder(folder);
    },
  };
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const at = (url: string, change: Partial<Pick<URL, 'pathname' | 'username' | 'password'>>) =>
  Object.assign(new URL(url), change).href;

/**
 * A fresh database with one owner's schema, migrated, on a real PostgreSQL.
 * @param migrations Prisma folder relative to the repository ("apps/management/prisma"); left out: an empty schema
 */
export async function startTestDatabase(options: {
  readonly schema: string;
  readonly migrations?: string;
}): Promise<TestDatabase> {
  const { adminUrl: serverUrl, release } = await server();
  const database = `test_${randomBytes(8).toString('hex')}`;
  const stop = async () => {
    await run(serverUrl, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).finally(release);
  };
  try {
    await run(serverUrl, `CREATE DATABASE ${database} TEMPLATE template0`);
    const adminUrl = at(serverUrl, { pathname: `/${database}` });
    const owner = { schema: options.schema, role: `longwave_${options.schema}`, password: 'test-only' };
    await provisionOwners(adminUrl, [owner]);
    if (options.migrations) {
      await migrateSchema(adminUrl, options.schema, path.resolve(workspaceRoot, options.migrations));
      await sealMigrationHistory(adminUrl, [owner]);
    }
    const url = at(adminUrl, { username: owner.role, password: owner.password });
    return { url, adminUrl, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}
