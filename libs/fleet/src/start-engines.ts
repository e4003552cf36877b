import type { SchemaOwner } from '@longwave/postgres';
import pg from 'pg';
import type { DataFolder } from './data-folder.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.ts';
import { deployMigrations } from './migrate-schema.ts';
import { startObjectStoreServer, type ObjectStoreServer } from './object-store-server.ts';
import { startRedisServer, type RedisServer } from './redis-server.ts';
import type { Secrets } from './secrets.ts';

const database = 'longwave';

export interface Engines {
  readonly postgres: EmbeddedPostgres;
  readonly redis: RedisServer;
  readonly objectStore: ObjectStoreServer;
  /** Superuser on the fleet's database. */
  readonly adminDatabaseUrl: string;
  readonly owners: readonly SchemaOwner[];
}

export interface EngineOptions {
  readonly data: DataFolder;
  readonly secrets: Secrets;
  readonly mode: 'durable' | 'fast';
  readonly objectStorePort: number | undefined;
  readonly stack: AsyncDisposableStack;
  readonly timed: <T>(name: string, work: () => Promise<T>) => Promise<T>;
}

/** Makes the fleet's database on first use and lets no role but the owners' in, here or in the maintenance databases. */
async function ensureDatabase(serverUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (!rowCount) await client.query(`CREATE DATABASE ${database} TEMPLATE template0`);
    for (const other of ['postgres', 'template1']) await client.query(`REVOKE ALL ON DATABASE ${other} FROM PUBLIC`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
}

/** Starts PostgreSQL (provisioned and migrated), Redis and the S3 server; each is stopped by `stack`. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const { data, secrets, mode, stack, timed } = options;
  const files = (name: string) => ({ logFile: data.logFile(name), pidFolder: data.pids });
  const database = timed('PostgreSQL', async () => {
    const folder = data.postgres;
    const postgres = await startEmbeddedPostgres({
      folder,
      password: secrets.postgresPassword,
      mode,
      ...files('postgres'),
    });
    stack.defer(postgres.stop);
    return postgres;
  }).then(async (postgres) => {
    return timed('schemas and migrations', async () => {
      const adminDatabaseUrl = await ensureDatabase(postgres.adminUrl);
      const owners = await deployMigrations(adminDatabaseUrl, secrets.rolePassword);
      return { postgres, adminDatabaseUrl, owners };
    });
  });
  const redis = timed('Redis', async () => {
    const folder = data.inside('redis');
    const server = await startRedisServer({ folder, password: secrets.redisPassword, mode, ...files('redis') });
    stack.defer(server.stop);
    return server;
  });
  const objectStore = timed('object store', async () => {
    const server = await startObjectStoreServer({
      folder: data.inside('objects'),
      accessKey: secrets.s3AccessKey,
      secretKey: secrets.s3SecretKey,
      ...(options.objectStorePort !== undefined && { port: options.objectStorePort }),
      ...files('s3-server'),
    });
    stack.defer(server.stop);
    return server;
  });
  const results = await Promise.allSettled([database, redis, objectStore]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return { ...(await database), redis: await redis, objectStore: await objectStore };
}
