import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createEventBus, type EventBus } from '@longwave/event-bus';
import {
  awayAddresses,
  developmentCa,
  freePorts,
  removeDataFolder,
  startChild,
  startTestDatabase,
  startTestRedis,
  temporaryDataFolder,
  workspaceRoot,
  type Child,
  type IdentityFiles,
  type TestDatabase,
} from '@longwave/fleet';
import type { JWK } from 'jose';
import { dataFolder } from './delivery-facts.ts';
import { until } from './until.ts';

/** What a process of analytics-sink needs around it. Disposing of it removes everything; a process that was started is stopped before. */
interface SinkPlace<N extends string> extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly redisUrl: string;
  readonly bus: EventBus;
  /** Host and port of its gRPC server, the same for each start. */
  readonly address: string;
  readonly identities: Readonly<Record<N | 'analytics-sink', IdentityFiles>>;
  /**
   * Starts analytics-sink and waits until it is ready. Other services are away, and facts of any age are kept.
   * @param settings variables instead of those
   */
  start(settings?: Readonly<Record<string, string>>): Promise<Child>;
}

/**
 * Makes a migrated database, a bus on Redis and identities for analytics-sink as a process of its own.
 * @param callers services that have identities beside it
 * @param keys public keys of those who sign principals, none unless given
 */
export async function prepareSink<N extends string>(
  callers: readonly N[],
  keys: readonly JWK[] = [],
): Promise<SinkPlace<N>> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(temporaryDataFolder(), removeDataFolder);
  const [database, redis, [grpcPort, healthPort], identities] = await Promise.all([
    startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' }).then((it) => stack.use(it)),
    startTestRedis().then((it) => stack.use(it)),
    freePorts(2) as Promise<[number, number]>,
    developmentCa<N | 'analytics-sink'>(folder.inside('tls'), ['analytics-sink', ...callers], new Date()),
  ]);
  const bus = stack.use(await createEventBus({ kind: 'redis', redisUrl: redis.url, clientName: 'test' }));
  const keysFile = folder.inside('principal-keys.json');
  writeFileSync(keysFile, JSON.stringify({ keys }));
  const { ca, cert, key } = identities['analytics-sink'];
  const address = `127.0.0.1:${grpcPort}`;
  const running = stack.move();
  return {
    database,
    redisUrl: redis.url,
    bus,
    address,
    identities,
    start: async (settings = {}) => {
      const child = await startChild({
        name: 'analytics-sink',
        command: process.execPath,
        args: [path.join(workspaceRoot, 'apps/analytics-sink/src/main.ts')],
        env: {
          ...{ HEALTH_LISTEN: `127.0.0.1:${healthPort}`, GRPC_LISTEN: address, HTTP_LISTEN: '127.0.0.1:0' },
          ...{ TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key, DATABASE_URL: database.url, REDIS_URL: redis.url },
          ...{ PRINCIPAL_KEYS: keysFile, ACCESS_TOKEN_KEYS: keysFile, AUDIENCE_DATA: dataFolder },
          ...{ BASE_URL: 'http://base.test', API_URL: 'http://api.test', LOG_LEVEL: 'debug' },
          // Facts of tests have fixed dates.
          FACT_MONTHS: '1200',
          ...awayAddresses('analytics-sink'),
          ...settings,
        },
        logFile: folder.logFile('analytics-sink'),
        pidFolder: folder.pids,
        stopSignal: 'SIGTERM',
      });
      running.defer(async () => void (child.isRunning() && (await child.stop())));
      await until(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok, { despiteErrors: true });
      return child;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
