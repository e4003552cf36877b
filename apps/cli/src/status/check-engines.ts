import { createObjectStore } from '@longwave/object-store';
import type { FleetAccess } from '@longwave/fleet/running';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Check } from '../checks/check.ts';
import { readInfo } from '../checks/redis-info.ts';
import { describeBytes } from '../checks/sizes.ts';
import { within } from '../checks/within.ts';
import { openBus, type BusAccess } from '../operator/dead-letter-commands.ts';

async function describePostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, query_timeout: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string; bytes: string; connections: string; most: string }>(
      `select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
         (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
         current_setting('max_connections') as most`,
    );
    const { version, bytes, connections, most } = rows[0]!;
    return `version ${version}, ${describeBytes(Number(bytes))}, ${connections} of ${most} connections`;
  } finally {
    await client.end();
  }
}

async function describeRedis(url: string): Promise<string> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 3_000, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const field = readInfo(await redis.info());
    const [used, most] = [Number(field('used_memory') ?? 0), Number(field('maxmemory') ?? 0)];
    const bound = most === 0 ? '' : ` of ${describeBytes(most)}`;
    if (most > 0 && used > most * 0.9)
      throw new Error(`its memory is nearly full: ${describeBytes(used)}${bound}. It soon refuses new messages`);
    return `version ${field('redis_version')}, ${describeBytes(used)}${bound} of memory`;
  } finally {
    redis.disconnect();
  }
}

async function describeObjectStore(access: FleetAccess['objectStore']): Promise<string> {
  // Any name: what is asked is whether the store answers, and knows the key.
  await createObjectStore(access).find('status');
  return `bucket ${access.bucket} at ${access.endpoint}`;
}

async function describeKafka(access: BusAccess): Promise<string> {
  let why = 'does not answer';
  await using bus = await openBus(access, { warn: ({ reason }) => void (why = String(reason)) });
  if (!(await bus.ping())) throw new Error(why);
  return `brokers ${access.kafkaBrokers}${access.kafkaSecurity?.KAFKA_TLS === 'true' ? ', with TLS' : ''}`;
}

/** @param log name of its log file */
async function checkEngine(name: string, log: string, describe: () => Promise<string>): Promise<Check> {
  try {
    return { part: 'engines', name, well: true, says: await within(describe) };
  } catch (error) {
    const says = (error as Error).message || (error as { code?: string }).code || 'does not answer';
    return {
      part: 'engines',
      name,
      well: false,
      says,
      advice: `Read its log: npx longwave logs ${log}`,
    };
  }
}

/** Whether each engine answers a request of the operator. */
export const checkEngines = (
  fleet: BusAccess & Pick<FleetAccess, 'adminDatabaseUrl' | 'objectStore'>,
): Promise<Check[]> =>
  Promise.all([
    checkEngine('PostgreSQL', 'postgres', () => describePostgres(fleet.adminDatabaseUrl)),
    checkEngine('Redis', 'redis', () => describeRedis(fleet.redisUrl)),
    checkEngine('object store', 's3-server', () => describeObjectStore(fleet.objectStore)),
    ...(fleet.kafkaBrokers === undefined ? [] : [checkEngine('Apache Kafka', 'kafka', () => describeKafka(fleet))]),
  ]);
