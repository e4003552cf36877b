import os from 'node:os';
import { closeMaintenanceDatabases, type SchemaOwner } from '@longwave/postgres';
import pg from 'pg';
import type { Apps } from './apps.ts';
import type { DataFolder } from './data-folder.ts';
import { developmentCa } from './development-ca.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.ts';
import { operatorKey } from './keys/write-logins.ts';
import { startKafkaServer, type KafkaServer } from './kafka-server.ts';
import type { ServiceEvent } from './keep-running.ts';
import { deployMigrations } from './migrate-schema.ts';
import { startObjectStoreServer, type ObjectStoreAccess, type ObjectStoreServer } from './object-store-server.ts';
import { redisMemoryBytes } from './redis-configuration.ts';
import { startRedisServer, type RedisServer } from './redis-server.ts';
import { addRedisUsers, redisUserLines } from './redis-user.ts';
import type { Secrets } from './secrets.ts';
import type { KafkaEnvironment } from './service-environment.ts';
import { outsideEngine, superviseEngine, type StartedEngine, type SupervisedEngine } from './supervised-engine.ts';
import { trustAuthority } from './trust-authority.ts';
import { startVersityGateway } from './versity-gateway.ts';

const database = 'longwave';

/** Engines that differ from those of one machine: no TLS, our own S3 server, Redis Streams as the event bus. */
export interface EngineChoice {
  /** PostgreSQL, Redis and Kafka take TLS connections alone, and everybody checks their certificates. Default: false. */
  readonly tls?: boolean;
  /** Folder of the jars of Apache Kafka, which becomes the event bus. */
  readonly kafkaJars?: string;
  /** The program of Versity S3 Gateway, which becomes the object store. All services have one key there. */
  readonly versityGateway?: string;
  /** Engines that run elsewhere, each in the place of one of this machine. */
  readonly outside?: OutsideEngines;
}

/** Addresses of engines that run elsewhere. */
export interface OutsideEngines {
  /** PostgreSQL, as a role that may make schemas and roles in this database. */
  readonly databaseUrl?: string | undefined;
  /** Redis, as a user who may make users. */
  readonly redisUrl?: string | undefined;
  /** "host:port", separated by commas. */
  readonly kafkaBrokers?: string | undefined;
  /** How to connect to these brokers; all services have this one login there. */
  readonly kafkaSecurity?: KafkaEnvironment | undefined;
  /** An S3 server; all services have this one key there. */
  readonly objectStore?: (ObjectStoreAccess & { readonly bucket: string }) | undefined;
}

export interface Engines {
  readonly postgres: SupervisedEngine<EmbeddedPostgres>;
  readonly redis: SupervisedEngine<RedisServer>;
  readonly objectStore: SupervisedEngine<ObjectStoreServer>;
  readonly kafka: SupervisedEngine<KafkaServer> | undefined;
  /** PEM file of the authority whose certificates PostgreSQL, Redis and Kafka have; undefined where they take no TLS. */
  readonly ca: string | undefined;
  /** Superuser on the fleet's database. */
  readonly adminDatabaseUrl: string;
  readonly owners: readonly SchemaOwner[];
}

export interface EngineOptions<S extends string> {
  readonly apps: Apps<S>;
  readonly data: DataFolder;
  /** The secrets of now: an engine that is started again has those of that time. */
  readonly secrets: () => Secrets<S>;
  readonly choice: EngineChoice;
  /** Processes of each service, of which each has connections of its own. */
  readonly replicas: number;
  readonly mode: 'durable' | 'fast';
  readonly objectStorePort: number | undefined;
  /** The address that the object store is bound to, because clients upload there. */
  readonly objectStoreHost: string;
  readonly stack: AsyncDisposableStack;
  readonly onEvent: (event: ServiceEvent) => void;
  readonly timed: <T>(name: string, work: () => Promise<T>) => Promise<T>;
}

/** The port that an address names; 0 where it names none. */
const portOf = (url: string) => Number(new URL(url).port);

/** Makes the fleet's database on first use and lets no role but the owners' in, here or in the maintenance databases. */
async function ensureDatabase(serverUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (!rowCount) await client.query(`CREATE DATABASE ${database} TEMPLATE template0`);
  } finally {
    await client.end();
  }
  await closeMaintenanceDatabases(serverUrl);
  return Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
}

/** PostgreSQL's bound on connections for the services of one machine; with several processes of each, so many times as many. */
const connectionsOfOne = 200;

/** Starts PostgreSQL (provisioned and migrated), Redis, the S3 server and, where it is chosen, Kafka; each comes back when it dies and is stopped by `stack`. */
export async function startEngines<S extends string>(options: EngineOptions<S>): Promise<Engines> {
  const { apps, data, secrets, choice, mode, stack, timed, onEvent } = options;
  const supervised = async <E extends StartedEngine>(name: string, start: (port?: number) => Promise<E>) => {
    const engine = await superviseEngine(name, start, onEvent);
    stack.defer(engine.stop);
    return engine;
  };
  const at = (port: number | undefined) => (port === undefined ? {} : { port });
  const files = (name: string) => ({ logFile: data.logFile(name), pidFolder: data.pids });
  const identities = choice.tls
    ? await developmentCa(data.inside('engine-tls'), ['postgres', 'redis', 'kafka'], new Date())
    : undefined;
  if (identities) trustAuthority(identities.redis.ca);
  const { databaseUrl, redisUrl, kafkaBrokers, objectStore: store } = choice.outside ?? {};
  const database = timed('PostgreSQL', async () =>
    databaseUrl === undefined
      ? supervised('postgres', (port) =>
          startEmbeddedPostgres({
            folder: data.postgres,
            password: secrets().postgresPassword,
            ...(secrets().postgresFormerPassword !== undefined && {
              formerPassword: secrets().postgresFormerPassword,
            }),
            tls: identities?.postgres,
            maxConnections: connectionsOfOne * options.replicas,
            mode,
            ...at(port),
            ...files('postgres'),
          }),
        )
      : outsideEngine<EmbeddedPostgres>('PostgreSQL', { port: portOf(databaseUrl), adminUrl: databaseUrl }),
  ).then(async (postgres) => {
    return timed('schemas and migrations', async () => {
      const adminDatabaseUrl = databaseUrl ?? (await ensureDatabase(postgres.first.adminUrl));
      const owners = await deployMigrations(adminDatabaseUrl, secrets().rolePassword, apps);
      return { postgres, adminDatabaseUrl, owners };
    });
  });
  const redis = timed('Redis', async () => {
    if (redisUrl !== undefined) {
      await addRedisUsers(redisUrl, redisUserLines(apps.services, secrets().services));
      return outsideEngine<RedisServer>('Redis', { port: portOf(redisUrl), url: redisUrl });
    }
    return supervised('redis', (port) =>
      startRedisServer({
        folder: data.inside('redis'),
        password: secrets().redisPassword,
        users: redisUserLines(apps.services, secrets().services),
        tls: identities?.redis,
        maxMemoryBytes: redisMemoryBytes(os.totalmem()),
        mode,
        ...at(port),
        ...files('redis'),
      }),
    );
  });
  const { versityGateway: program, kafkaJars: jars } = choice;
  const objectStore = timed('object store', async () =>
    store
      ? outsideEngine<ObjectStoreServer>('the object store', { ...store, port: portOf(store.endpoint) })
      : supervised('s3-server', (port = options.objectStorePort) =>
          program === undefined
            ? startObjectStoreServer({
                folder: data.inside('objects'),
                ...operatorKey(secrets()),
                keysFile: data.objectStoreKeys,
                host: options.objectStoreHost,
                ...at(port),
                ...files('s3-server'),
              })
            : startVersityGateway({
                ...{ program, folder: data.inside('objects') },
                ...operatorKey(secrets()),
                host: options.objectStoreHost,
                ...at(port),
                ...files('s3-server'),
              }),
        ),
  );
  const kafka =
    jars &&
    kafkaBrokers === undefined &&
    timed('Apache Kafka', () =>
      supervised('kafka', (port) =>
        startKafkaServer({
          jars,
          folder: data.inside('kafka'),
          tls: identities?.kafka,
          ...at(port),
          ...files('kafka'),
        }),
      ),
    );
  const results = await Promise.allSettled([database, redis, objectStore, kafka]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return {
    ...(await database),
    redis: await redis,
    objectStore: await objectStore,
    kafka: (await kafka) || undefined,
    ca: identities?.redis.ca,
  };
}
