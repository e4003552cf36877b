import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FleetAccess } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import pg from 'pg';

/** What an installation has written, by the place where it stands: `log auth-server`, `identity.resource`, `redis bus:…`. */
export type StoredTexts = ReadonlyMap<string, string>;

/** The logs of every service and engine. */
const logsOf = ({ logsFolder }: FleetAccess): StoredTexts =>
  new Map(
    readdirSync(logsFolder).map((file) => [
      `log ${path.basename(file, '.log')}`,
      readFileSync(path.join(logsFolder, file), 'utf8'),
    ]),
  );

/** The logs, once they tell of the newest request. */
export async function newestLogs(fleet: FleetAccess): Promise<StoredTexts> {
  const { headers } = await fetch(`${fleet.urls.base}/api/v1/podcasts`);
  const requestId = headers.get('x-request-id')!;
  await until('the log', () => placesOf(requestId, logsOf(fleet)).includes('log rest-gateway'));
  return logsOf(fleet);
}

/** Every row of every table, of all schemas. */
export async function tablesOf({ adminDatabaseUrl }: FleetAccess): Promise<StoredTexts> {
  const client = new pg.Client({ connectionString: adminDatabaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    const found = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      found.set(name, rows.map(({ row }) => row).join('\n'));
    }
    return found;
  } finally {
    await client.end();
  }
}

/** Every key of Redis with its value. */
export async function keysOf({ redisUrl }: FleetAccess): Promise<StoredTexts> {
  const redis = new Redis(redisUrl);
  const readers: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1', 'WITHSCORES'),
    stream: (key) => redis.xrange(key, '-', '+'),
    // It expired meanwhile.
    none: async () => '',
  };
  try {
    const keys = (await redis.scanStream({ count: 1000 }).toArray()).flat() as string[];
    const texts = keys.map(async (key) => {
      const value = await readers[await redis.type(key)]!(key);
      return [`redis ${key}`, `${key} ${JSON.stringify(value)}`] as const;
    });
    return new Map(await Promise.all(texts));
  } finally {
    await redis.quit();
  }
}

/** The places in which a text stands, as it is or in hexadecimal. */
export function placesOf(text: string, ...stored: readonly StoredTexts[]): string[] {
  const hex = Buffer.from(text).toString('hex');
  return stored.flatMap((texts) =>
    [...texts].filter(([, written]) => written.includes(text) || written.includes(hex)).map(([place]) => place),
  );
}
